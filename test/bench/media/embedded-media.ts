import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServerAddress } from '../../../runtime/config/config.ts';

const COMMAND = fileURLToPath(new URL('../../../runtime/cli/ringmaster.mjs', import.meta.url));
const PASSWORD = 'bench';

/** The embedded media server in a separate process. */
export class EmbeddedMedia {
  readonly address: ServerAddress;
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: ServerAddress, pid: number) {
    this.#child = child;
    this.address = address;
    this.pid = pid;
  }

  static async start(folder: string, rtp: { readonly from: number; readonly to: number }): Promise<EmbeddedMedia> {
    const child = spawn(
      process.execPath,
      [COMMAND, 'embedded', '--event-socket', '127.0.0.1:0', '--password', PASSWORD, '--media', '127.0.0.1:0'].concat([
        '--rtp-ports',
        `${rtp.from}-${rtp.to}`,
        '--sounds',
        folder,
        '--recordings',
        folder,
      ]),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    for await (const line of createInterface({ input: child.stdout })) {
      const [, host, port] = /^event-socket (\S+):(\d+)$/.exec(line) ?? [];
      if (host === undefined) continue;
      child.stdout.resume();
      return new EmbeddedMedia(child, { host, port: Number(port), secret: PASSWORD }, child.pid ?? 0);
    }
    throw new Error('the embedded media server did not start');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill();
    await exited;
  }
}
