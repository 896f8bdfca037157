import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { TestNode } from '../support/node.ts';

/** A node of its own, because it is killed. */
describe('a node that is killed and started again with the same data', () => {
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

  it('knows its accounts and their contacts, and takes calls', async function () {
    this.timeout(90_000);
    const alice = await phone('alice');
    const bob = await phone('bob');
    for (let round = 0; round < 2; round += 1) {
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      await incoming.answer();
      await outgoing.answered();
      outgoing.play(440);
      await incoming.hears(440);
      await node.kill();
      outgoing.abandon();
      incoming.abandon();
      await node.restart();
      const admin = await node.login();
      expect((await admin.get('/rest/v1/uc/calls')).json(), 'dialogs of the past').to.deep.equal([]);
      admin.close();
    }
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    await outgoing.hangup();
    await incoming.ended();
  });

  it('ends cleanly on SIGTERM with a call in progress, and releases the phones', async function () {
    this.timeout(90_000);
    const alice = await phone('alice');
    const bob = await phone('bob');
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    await node.stop();
    expect((await outgoing.ended()).by).to.equal('there');
    expect((await incoming.ended()).by).to.equal('there');
    await node.restart();
  });
});
