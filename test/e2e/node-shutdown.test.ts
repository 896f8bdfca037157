import { expect } from 'chai';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Phone } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { freeSipPort, freeTcpPort, freeUdpRange } from '../support/ports.ts';
import { realServerSettings } from '../support/real-servers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LAUNCHER = join(ROOT, 'runtime/cli/ringmaster.mjs');
const READY_MS = 60_000;
const END_MS = 20_000;
/** Twice the time a node needs to notice the end of its parent. */
const UNNOTICED_MS = 1500;

/** A Node.js of another major release, under which the launcher starts the project's own. */
function otherNode(): string | undefined {
  for (const node of ['/usr/bin/node', '/usr/local/bin/node']) {
    try {
      if (!execFileSync(node, ['--version'], { encoding: 'utf8' }).startsWith('v24.')) return node;
    } catch {
      // The file is missing.
    }
  }
  return undefined;
}

/** For each way to start and stop a node: its calls end with BYE and its ports are free. */
describe('shutdown of a node, however it was started', function () {
  this.timeout(READY_MS + 2 * END_MS + 20_000);
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  let alice: Phone;
  let bob: Phone;
  let starter: ChildProcess | undefined;
  let env: Record<string, string | undefined>;
  let health: string;
  let sip: string;

  before(async () => {
    const http = await freeTcpPort();
    const sipPort = await freeSipPort();
    const { from, to } = await freeUdpRange(100);
    health = `http://127.0.0.1:${http}/healthz`;
    sip = `127.0.0.1:${sipPort}`;
    env = {
      ...Object.fromEntries(
        Object.entries(process.env).filter(
          ([name]) => !/^(npm_|RINGMASTER_|DATABASE_URL|NOTIFY_SOCKET|INVOCATION_ID)/.test(name),
        ),
      ),
      RINGMASTER_HTTP_PORT: String(http),
      RINGMASTER_SIP_PORT: String(sipPort),
      RINGMASTER_RTP_PORTS: `${from}-${to}`,
      RINGMASTER_DATA_DIR: dataDir,
    };
    alice = await phone('alice');
    bob = await phone('bob');
  });

  before(function () {
    // Real servers accept one node at a time; the shutdown does not depend on them.
    if (process.platform === 'win32' || Object.keys(realServerSettings()).length > 0) this.skip();
  });

  afterEach(async () => {
    const node = nodePid();
    if (node !== undefined && isAlive(node)) process.kill(node, 'SIGKILL');
    starter?.kill('SIGKILL');
  });

  after(async () => {
    await Promise.all([alice, bob].map((each) => each?.stop({ abruptly: true })));
  });

  function phone(login: string): Promise<Phone> {
    return Phone.start({ login, domain: 'demo.local', password: `demo-${login}`, registrar: sip });
  }

  /** The process that holds the data folder. */
  function nodePid(): number | undefined {
    try {
      return (JSON.parse(readFileSync(join(dataDir, 'storage.lock'), 'utf8')) as { pid: number }).pid;
    } catch {
      return undefined;
    }
  }

  function isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  /** Runs a command that starts a node, as the leader of a process group, until calls are possible. */
  async function start(command: string, args: readonly string[], cwd = ROOT) {
    const child = spawn(command, args, { cwd, env, stdio: 'ignore', detached: true });
    const ended = once(child, 'exit');
    starter = child;
    await eventually(async () => expect((await fetch(health)).status).to.equal(200), READY_MS);
    return { pid: child.pid ?? 0, ended, node: nodePid() ?? 0 };
  }

  /** A call between two phones during which `work` ends the node; the phones must get BYE. */
  async function duringCall(node: number, work: () => void): Promise<void> {
    expect((await alice.register()).status).to.equal(200);
    expect((await bob.register()).status).to.equal(200);
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    work();
    expect((await outgoing.ended(END_MS)).by).to.equal('there');
    expect((await incoming.ended(END_MS)).by).to.equal('there');
    expect([...alice.violations, ...bob.violations]).to.deep.equal([]);
    await eventually(async () => expect(isAlive(node)).to.equal(false), END_MS);
    // The data folder is released: the node was not killed.
    expect(nodePid()).to.equal(undefined);
    expect(await fetch(health).catch(() => 'refused')).to.equal('refused');
  }

  const WAYS = { 'npm start': ['start'], 'npx ringmaster start': ['exec', '--', 'ringmaster', 'start'] };
  for (const [name, args] of Object.entries(WAYS)) {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
      // The node never receives a SIGINT to npx alone: the shell between them waits for the node.
      if (signal === 'SIGINT' && name.startsWith('npx')) continue;
      it(`${signal} to the npm process of ${name} ends the node in order`, async () => {
        const { pid, node } = await start('npm', args);
        await duringCall(node, () => process.kill(pid, signal));
      });
    }

    for (const signal of ['SIGINT', 'SIGHUP'] as const) {
      it(`${signal} to all processes of ${name}, as from a terminal, ends the node in order`, async () => {
        const { pid, node } = await start('npm', args);
        await duringCall(node, () => process.kill(-pid, signal));
      });
    }
  }

  for (const [name, args] of Object.entries(WAYS)) {
    it(`a node that drains goes on after SIGTERM to the npm process of ${name}, and ends at the second one`, async () => {
      env['RINGMASTER_DRAIN'] = '60';
      try {
        const { pid, node } = await start('npm', args);
        expect((await alice.register()).status).to.equal(200);
        expect((await bob.register()).status).to.equal(200);
        const outgoing = await alice.call('102');
        const incoming = await bob.incoming();
        await incoming.answer();
        await outgoing.answered();
        process.kill(pid, 'SIGTERM');
        // Time for npx to end, and for the node to notice it.
        await delay(UNNOTICED_MS);
        expect(await (await fetch(health)).text()).to.contain('"state":"draining"');
        expect([isAlive(node), outgoing.established, incoming.established]).to.deep.equal([true, true, true]);
        process.kill(isAlive(pid) ? pid : node, 'SIGTERM');
        expect((await outgoing.ended(END_MS)).by).to.equal('there');
        expect((await incoming.ended(END_MS)).by).to.equal('there');
        await eventually(async () => expect(isAlive(node)).to.equal(false), END_MS);
      } finally {
        delete env['RINGMASTER_DRAIN'];
      }
    });
  }

  it('npm start waits for the node, and ends with its exit status', async () => {
    const { pid, node, ended } = await start('npm', ['start']);
    let nodeWasThere: boolean | undefined;
    const [code] = await Promise.all([
      ended.then(([status]) => {
        nodeWasThere = isAlive(node);
        return status as number | null;
      }),
      duringCall(node, () => process.kill(pid, 'SIGTERM')),
    ]);
    expect({ code, nodeWasThere }).to.deep.equal({ code: 0, nodeWasThere: false });
  });

  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL'] as const) {
    it(`${signal} to a launcher under another Node.js ends the node in order`, async function () {
      const other = otherNode();
      if (other === undefined) this.skip();
      const { pid, node } = await start(other, [LAUNCHER, 'start']);
      expect(node).not.to.equal(pid);
      await duringCall(node, () => process.kill(pid, signal));
    });
  }

  const BACKGROUND = `nohup '${process.execPath}' '${LAUNCHER}' start >/dev/null 2>&1 &`;
  const DETACHING = {
    'the shell that started it': ['sh', ['-c', BACKGROUND]],
    'the npm script that started it': ['npm', ['run', 'background']],
    'a program of an npm script that started it': ['npm', ['run', 'deploy']],
  } as const;
  for (const [starting, [command, args]] of Object.entries(DETACHING)) {
    it(`a node in the background survives the end of ${starting}`, async () => {
      writeFileSync(join(folder, 'deploy.sh'), BACKGROUND);
      const scripts = { background: BACKGROUND, deploy: 'sh deploy.sh' };
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }));
      const { ended, node } = await start(command, args, folder);
      await ended;
      await delay(UNNOTICED_MS);
      expect((await fetch(health)).status).to.equal(200);
      await duringCall(node, () => process.kill(node, 'SIGTERM'));
    });
  }
});
