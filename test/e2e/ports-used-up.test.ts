import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';

describe('a node whose ports for sound are all in use', () => {
  let node: TestNode;
  let alice: Phone;
  before('start it', async function () {
    this.timeout(90_000);
    // An endpoint takes two of them.
    const { from, to } = await freeUdpRange(4);
    node = await TestNode.start({ embedded: true, env: { RINGMASTER_RTP_PORTS: `${from}-${to}` } });
    alice = await Phone.start({ login: 'alice', domain: 'demo.local', password: 'demo-alice', registrar: node.sip });
    await alice.register();
  });
  after('stop it', async () => {
    await alice.stop();
    await node.remove();
  });

  it('refuses a call with 503, as another node may have some, and takes calls when ports are free again', async () => {
    const calls = [];
    for (let call = 0; call < 2; call += 1) {
      const echo = await alice.call('501');
      await echo.answered();
      calls.push(echo);
    }
    expect(await (await alice.call('501')).refused()).to.include({ status: 503 });
    for (const call of calls) await call.hangup();
    const again = await alice.call('501');
    await again.answered();
    await again.hangup();
  });
});
