import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { startZombie } from '../storage/support/zombie.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';

const STORAGE_CHILD = fileURLToPath(new URL('../storage/support/child.ts', import.meta.url));

/** A node of its own, because it is killed. */
describe('a killed node that starts again with the same data', () => {
  let node: TestNode;
  const phones: Phone[] = [];

  before(async function () {
    this.timeout(90_000);
    node = await TestNode.start();
  });

  afterEach(async () => {
    await Promise.all(phones.splice(0).map((each) => each.stop({ abruptly: true })));
  });

  after(async function () {
    this.timeout(20_000);
    await node.remove();
  });

  async function phone(login: string): Promise<Phone> {
    const options = { login, domain: 'demo.local', password: `demo-${login}`, registrar: node.sip };
    const started = await Phone.start(options);
    phones.push(started);
    expect((await started.register()).status).to.equal(200);
    return started;
  }

  it('keeps accounts and contacts, takes calls, and has no old dialogs', async function () {
    this.timeout(90_000);
    const alice = await phone('alice');
    const bob = await phone('bob');
    const interrupted = await connect(alice, bob);
    interrupted.outgoing.play(440);
    await interrupted.incoming.hears(440);
    await node.kill();
    interrupted.outgoing.abandon();
    interrupted.incoming.abandon();
    await node.restart();
    expect(await dialogs()).to.deep.equal([]);
    const { outgoing, incoming } = await connect(alice, bob);
    await outgoing.hangup();
    await incoming.ended();
  });

  it('cancels phones left ringing, and ends a call answered meanwhile', async function () {
    this.timeout(90_000);
    const alice = await phone('alice');
    const bob = await phone('bob');
    const carol = await phone('carol');
    const toBob = await alice.call('102');
    const atBob = await bob.incoming();
    atBob.ring();
    await toBob.ringing();
    const toCarol = await alice.call('103');
    const atCarol = await carol.incoming();
    atCarol.ring();
    await toCarol.ringing();
    // Without this node the phone stops ringing by itself.
    expect(Number(atBob.header('Expires'))).to.be.within(60, 70);
    await node.kill();
    toBob.abandon();
    toCarol.abandon();
    const answered = atCarol.answer(30_000);
    await node.restart();
    expect((await atBob.ended(10_000)).by).to.equal('cancelled');
    await answered;
    expect((await atCarol.ended(10_000)).by).to.equal('there');
    expect([...bob.violations, ...carol.violations]).to.deep.equal([]);
    // Nothing is left for the next start to cancel.
    await eventually(async () => {
      const text = await readFile(join(node.dataDir, 'ringing.jsonl'), 'utf8');
      expect(text.split('settled').length).to.equal(text.split('"sent"').length);
    });
  });

  it('SIGTERM during a call releases the phones; LOOKUP after the start knows the stored sipuserid', async function () {
    this.timeout(90_000);
    const alice = await phone('alice');
    const bob = await phone('bob');
    const ended = await connect(alice, bob);
    await node.stop();
    expect((await ended.outgoing.ended()).by).to.equal('there');
    expect((await ended.incoming.ended()).by).to.equal('there');
    const sipuserid = await sipUserId('bob');
    await node.restart();
    const { outgoing } = await connect(alice, bob);
    const admin = await node.login();
    const found = await admin.send('LOOKUP', '/rest/v1/uc/calls', { body: { sipuserid } });
    admin.close();
    expect(found.json(), found.text).to.deep.equal((await dialogs()).map(({ dialogid }) => dialogid));
    await outgoing.hangup();
  });

  it('takes over the data of a killed owner that nobody waits for', async function () {
    if (process.platform !== 'linux') this.skip();
    this.timeout(90_000);
    await node.stop();
    const zombie = await startZombie([process.execPath, STORAGE_CHILD, node.dataDir, 'hold']);
    try {
      expect(await owner()).to.equal(zombie.pid);
      await node.restart();
      expect(await owner()).to.equal(node.pid);
    } finally {
      zombie.remove();
    }
  });

  async function connect(from: Phone, to: Phone) {
    const outgoing = await from.call('102');
    const incoming = await to.incoming();
    await incoming.answer();
    await outgoing.answered();
    return { outgoing, incoming };
  }

  /** The process that holds the data directory. */
  async function owner(): Promise<number> {
    const lock = JSON.parse(await readFile(join(node.dataDir, 'storage.lock'), 'utf8')) as { pid: number };
    return lock.pid;
  }

  async function dialogs(): Promise<{ dialogid: string }[]> {
    const admin = await node.login();
    const answer = await admin.get('/rest/v1/uc/calls');
    admin.close();
    return answer.json();
  }

  /** No request reports it yet. */
  async function sipUserId(login: string): Promise<string> {
    const store = await PGlite.create(join(node.dataDir, 'pglite'));
    try {
      const { rows } = await store.query<{ id: string }>('select id from sipusers where login = $1', [login]);
      return rows[0]?.id ?? '';
    } finally {
      await store.close();
    }
  }
});
