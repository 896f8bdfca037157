import { expect } from 'chai';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Phone } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The service manager's end of its socket (sd_notify(3)): prints each datagram, its lines joined by `;`. */
const SERVICE_MANAGER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    print(s.recv(4096).decode().strip().replace("\\n", ";"), flush=True)
`;

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a node under systemd', function () {
  this.timeout(90_000);
  const folder = temporaryFolder();
  const socket = join(folder, 'notify');
  const heard: string[] = [];
  let manager: ChildProcess | undefined;
  let node: TestNode | undefined;
  const phones: Phone[] = [];

  before(async function () {
    if (!isInstalled('python3') || !isInstalled('systemd-notify')) this.skip();
    manager = spawn('python3', ['-c', SERVICE_MANAGER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
    manager.stdout
      ?.setEncoding('utf8')
      .on('data', (text: string) => heard.push(...text.split('\n').filter((line) => line !== '')));
    await eventually(async () => expect(heard).to.deep.equal(['bound']));
  });

  after(async () => {
    for (const phone of phones) await phone.stop({ abruptly: true });
    await node?.remove();
    if (manager !== undefined) {
      const exited = once(manager, 'exit');
      manager.kill('SIGKILL');
      await exited;
    }
  });

  const times = (message: string): number => heard.filter((line) => line === message).length;

  it('reports its start, its watchdog, its drain with the calls left, and its end', async () => {
    node = await TestNode.start({ env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '1000000' } });
    await eventually(async () => expect(heard[1]).to.equal('READY=1;STATUS=Accepting calls'), 10_000);
    for (const login of ['alice', 'bob']) {
      const phone = await Phone.start({ login, domain: 'demo.local', password: `demo-${login}`, registrar: node.sip });
      phones.push(phone);
      await phone.register();
    }
    const [alice, bob] = phones as [Phone, Phone];
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    await eventually(async () => expect(times('WATCHDOG=1')).to.be.greaterThan(2), 10_000);

    const exit = node.ended;
    process.kill(node.pid ?? 0, 'SIGTERM');
    const left = 'EXTEND_TIMEOUT_USEC=30000000;STATUS=Draining, 1 call and 0 runs left';
    await eventually(async () => expect(times(left)).to.be.greaterThan(1), 20_000);
    const before = times('WATCHDOG=1');
    await eventually(async () => expect(times('WATCHDOG=1')).to.be.greaterThan(before), 10_000);
    await outgoing.hangup();
    await incoming.ended();
    expect(await exit).to.equal(0);
    const stopping = 'STOPPING=1;EXTEND_TIMEOUT_USEC=30000000;STATUS=Ending';
    await eventually(async () => expect(times(stopping)).to.equal(1));
  });
});

describe('the unit file', () => {
  const original = fileURLToPath(new URL('../../docs/operating/systemd/ringmaster.service', import.meta.url));
  const folder = temporaryFolder();

  before(function () {
    if (!isInstalled('systemd-analyze')) this.skip();
  });

  it('of the docs is one that systemd understands', () => {
    const unit = readFileSync(original, 'utf8');
    expect(unit).to.contain('Type=notify');
    // Only its program and user are elsewhere.
    const here = unit
      .replaceAll('/opt/ringmaster/node_modules/node/bin/node', process.execPath)
      .replace('User=ringmaster', 'User=nobody')
      .replace('Group=ringmaster', 'Group=nogroup');
    const file = join(folder, 'ringmaster.service');
    writeFileSync(file, here);
    expect(execFileSync('systemd-analyze', ['verify', file], { encoding: 'utf8', stdio: 'pipe' })).to.equal('');
  });

  it('leaves the process little of the machine: systemd rates its exposure at most 2.5 of 10', () => {
    const args = ['security', '--offline=true', '--threshold=25', '--no-pager', original];
    expect(execFileSync('systemd-analyze', args, { encoding: 'utf8', stdio: 'pipe' })).to.include('exposure level');
  });
});
