import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freeUdpRange } from '../support/ports.ts';
import { disposableFolder } from '../support/temporary-folder.ts';
import { Command } from './command.ts';

const exec = promisify(execFile);

/** A port that somebody else listens on while the work goes on. */
async function withTakenPort(work: (port: number) => Promise<void>): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

/** Settings of a node on free ports. */
async function free(): Promise<Record<string, string>> {
  return { RINGMASTER_HTTP_PORT: '0', RINGMASTER_SIP_PORT: '0', RINGMASTER_RTP_PORTS: await rtpPorts() };
}

async function rtpPorts(): Promise<string> {
  const { from, to } = await freeUdpRange(100);
  return `${from}-${to}`;
}

describe('the ringmaster command', function () {
  this.timeout(60_000);

  it('prints its usage', async () => {
    const { code, out } = await (await Command.run(['help'])).ended;
    expect(code).to.equal(0);
    for (const command of ['start', 'check', 'embedded']) expect(out).to.include(`npx ringmaster ${command}`);
  });

  it('refuses unknown commands', async () => {
    const { code, err } = await (await Command.run(['strat'])).ended;
    expect(code).to.equal(2);
    expect(err).to.match(/^ringmaster: unknown command "strat"/);
  });

  it('start reports an invalid setting in one line', async () => {
    const { code, err } = await (await Command.run(['start'], { RINGMASTER_SIP_PORT: 'abc' })).ended;
    expect(code).to.equal(1);
    expect(err).to.equal('ringmaster: RINGMASTER_SIP_PORT: found "abc", expected a port number from 0 to 65535\n');
  });

  for (const [name, what] of [
    ['RINGMASTER_HTTP_PORT', 'the REST service'],
    ['RINGMASTER_SIP_PORT', 'SIP'],
  ] as const) {
    it(`start reports a taken port of ${name} in one line, and ends`, () =>
      withTakenPort(async (port) => {
        const { code, err } = await (await Command.run(['start'], { ...(await free()), [name]: String(port) })).ended;
        expect(code).to.equal(1);
        expect(err.trimEnd().split('\n').at(-1)).to.match(
          new RegExp(`^ringmaster: ${what}: cannot listen on .*${port} \\(the address is in use\\)$`),
        );
      }));
  }

  const PAIR = { RINGMASTER_DRACHTIO: '127.0.0.1:9022:s', RINGMASTER_FREESWITCH: '127.0.0.1:8021:p' };
  const SIZING = fileURLToPath(new URL('../../freeswitch-config/sizing.yaml', import.meta.url));

  it('freeswitch-config renders the shipped sizing file, and prints the written files', async () => {
    await using target = await disposableFolder();
    const { code, out, err } = await (await Command.run(['freeswitch-config', SIZING, target.path], PAIR)).ended;
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    const files = out.trimEnd().split('\n');
    expect(files)
      .to.include(join(target.path, 'drachtio.conf.xml'))
      .and.to.include(join(target.path, 'freeswitch.xml'));
    for (const file of files) expect(readFileSync(file, 'utf8'), file).not.to.equal('');
  });

  it('freeswitch-config reports a missing server, file or argument', async () => {
    const run = async (args: string[], env = {}) => (await Command.run(['freeswitch-config', ...args], env)).ended;
    expect(await run([SIZING, 'target'])).to.deep.include({
      code: 1,
      err: 'ringmaster: RINGMASTER_DRACHTIO: expected one host:port:secret; render once for each pair, found 0\n',
    });
    const { code, err } = await run(['none.yaml', 'target'], PAIR);
    expect({ code, err }).to.deep.equal({
      code: 1,
      err: "ringmaster: ENOENT: no such file or directory, open 'none.yaml'\n",
    });
    const missing = await run([SIZING]);
    expect(missing.code).to.equal(2);
    expect(missing.err).to.match(
      /^name a sizing file and a target folder\nusage: ringmaster freeswitch-config .*SIZING-FILE TARGET-FOLDER\n/,
    );
  });

  it('simulate --debug reports a taken debugger port, and does not blame the file', async () => {
    const server = createServer();
    // Where something listens there already, that will do.
    await new Promise<void>((resolve) => server.on('error', () => resolve()).listen(9229, '127.0.0.1', resolve));
    try {
      const { code, err } = await (await Command.run(['simulate', 'none.yaml', '--debug'])).ended;
      expect(code).to.equal(2);
      expect(err).to.match(/^debuggers cannot connect to port 9229, because another program listens on it.*\nusage: /);
      expect(err).not.to.include('none.yaml');
    } finally {
      server.close();
    }
  });

  it('start prints addresses, demo accounts and things to try, and ends by SIGTERM with 0', async () => {
    const node = await Command.run(['start'], await free());
    await node.printed(/Three things to try/);
    const { code, out, err } = await node.terminate();
    expect(code).to.equal(0);
    expect(err).to.equal('');
    expect(out)
      .to.match(/REST {2}http:\/\/127\.0\.0\.1:\d+\/rest\/v1/)
      .and.to.match(/SIP {3}127\.0\.0\.1:\d+/);
    expect(out).to.include('demo-<login>');
  });

  it('embedded runs the servers alone, on the addresses it prints, and ends by SIGTERM with 0', async () => {
    const sip = '--app 127.0.0.1:0 --secret s --sip 127.0.0.1:0';
    const media = '--event-socket 127.0.0.1:0 --password p --media 127.0.0.1:0';
    const servers = await Command.run(`embedded ${sip} ${media} --rtp-ports ${await rtpPorts()}`.split(' '));
    await servers.printed(
      /^app 127\.0\.0\.1:\d+\nsip 127\.0\.0\.1:\d+\nevent-socket 127\.0\.0\.1:\d+\nmedia 127\.0\.0\.1:\d+\nready\n/,
    );
    expect(await servers.terminate()).to.include({ code: 0, err: '' });
  });

  it('servers set their memory limits before their start, and keep explicit ones', async function () {
    if (process.platform !== 'linux') this.skip();
    const args = 'embedded --app 127.0.0.1:0 --secret s --sip 127.0.0.1:0'.split(' ');
    const limitsOf = async (env: Readonly<Record<string, string>>, flags: readonly string[] = []) => {
      const servers = await Command.run(args, env, flags);
      await servers.printed(/ready\n/);
      const of = (name: string) => readFileSync(`/proc/${servers.pid}/${name}`, 'latin1').split('\0');
      const limits = [...of('cmdline'), ...of('environ')].filter((text) =>
        /pool-size|semi-space-size|memory-reducer|scavenge|MALLOC_/.test(text),
      );
      expect(await servers.terminate()).to.include({ code: 0, err: '' });
      return limits;
    };
    const noBursts = ['--no-memory-reducer', '--no-parallel-scavenge'];
    const mapped = 'MALLOC_MMAP_THRESHOLD_=131072';
    expect(await limitsOf({})).to.deep.equal(['--max-semi-space-size=8', ...noBursts, 'MALLOC_ARENA_MAX=2', mapped]);
    // V8 would refuse the compiled code that comes with Node.js.
    const tagWith = async (...flags: readonly string[]): Promise<string> =>
      (await exec(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'])).stdout;
    expect(await tagWith('--max-semi-space-size=8', ...noBursts)).to.equal(await tagWith());
    const own = { MALLOC_ARENA_MAX: '4' };
    expect(await limitsOf(own)).to.deep.equal(['MALLOC_ARENA_MAX=4']);
    // Of two that contradict each other V8 takes the last one.
    expect(await limitsOf({}, ['--memory-reducer'])).to.deep.equal([
      '--max-semi-space-size=8',
      ...noBursts,
      '--memory-reducer',
      'MALLOC_ARENA_MAX=2',
      mapped,
    ]);
    const heap = { NODE_OPTIONS: '--max-semi-space-size=32' };
    expect(await limitsOf(heap)).to.have.members([
      'NODE_OPTIONS=--max-semi-space-size=32',
      ...noBursts,
      'MALLOC_ARENA_MAX=2',
      mapped,
    ]);
  });

  it('embedded reports a taken event socket in one line, and ends', () =>
    withTakenPort(async (port) => {
      const media = `embedded --event-socket 127.0.0.1:${port} --password p --media 127.0.0.1:0`;
      const { code, err } = await (await Command.run(media.split(' '))).ended;
      expect(code).to.equal(1);
      const taken = `media server: cannot listen on 127.0.0.1:${port} (the address is in use)`;
      expect(err).to.equal(`ringmaster embedded: ${taken}\n`);
    }));

  it('embedded names a missing or unknown option', async () => {
    const missing = await (await Command.run(['embedded', '--app', '127.0.0.1:0'])).ended;
    expect(missing).to.deep.include({
      code: 1,
      err: 'ringmaster embedded: --secret is missing; --help tells what is needed\n',
    });
    const unknown = await (await Command.run(['embedded', '--bogus'])).ended;
    expect(unknown.code).to.equal(1);
    expect(unknown.err).to.include("'--bogus'");
  });
});
