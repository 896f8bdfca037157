import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk, referProgress } from './expectations.ts';

/** Foreign hosts: a name, addresses, and a served domain other than the phone's. */
const ELSEWHERE = ['elsewhere.example', '192.0.2.9', '[2001:db8::9]', 'demo.local.example:5060', 'master'];

function forward(call: IncomingCall, to: string): void {
  call.reject(302, { headers: [{ name: 'Contact', value: `<${to}>` }] });
}

describe('a number at another host', () => {
  const stage = useStage({ ownNode: true });

  it('gets no call and no text, even when an account here has the number (RFC 3261 section 8.2.2.1)', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    for (const host of ELSEWHERE) {
      const refused = await (await alice.call(`sip:102@${host}`)).refused();
      expect(refused.status, host).to.equal(404);
      expect((await alice.message(`sip:102@${host}`, 'hello')).status, host).to.equal(404);
    }
    expect([bob.waitingCalls, bob.requests.pending]).to.deep.equal([0, 0]);
  });

  it('gets no call when a phone forwards there: the caller gets the redirection', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    for (const host of ELSEWHERE) {
      const outgoing = await alice.call('102');
      forward(await bob.incoming(), `sip:103@${host}`);
      expect((await outgoing.refused()).status, host).to.equal(302);
    }
    expect(carol.waitingCalls).to.equal(0);
  });

  it('is local at the address of the server, for calls, forwarding and transfers', async () => {
    const [host = ''] = stage.node.sip.split(':');
    const [alice, bob] = [await stage.phone('alice', { domain: host }), await stage.phone('bob', { domain: host })];
    const carol = await stage.phone('carol');
    const forwarded = await alice.call('102');
    forward(await bob.incoming(), `sip:103@${stage.node.sip}`);
    await (await carol.incoming()).answer();
    await forwarded.answered();
    await forwarded.hangup();
    const { outgoing, incoming } = await stage.connect(alice, bob, 'bob');
    const to = [{ name: 'Refer-To', value: `<sip:103@${host};transport=udp>` }];
    expect((await outgoing.request('REFER', to)).status).to.equal(202);
    const target = await carol.incoming();
    await target.answer();
    expect((await referProgress(outgoing)).at(-1)).to.equal('SIP/2.0 200 OK');
    await expectTalk(incoming, target);
    await incoming.hangup();
    await target.ended();
  });

  it('is local at the public address of a router as soon as a phone of the domain registers there', async () => {
    const PUBLIC = '192.0.2.7';
    const [alice, bob] = await stage.phones('alice', 'bob');
    expect((await (await alice.call(`sip:102@${PUBLIC}`)).refused()).status).to.equal(404);
    const carol = await stage.phone('carol', { domain: PUBLIC });
    for (const [caller, called] of [
      [carol, bob],
      [alice, bob],
    ] as const) {
      const outgoing = await caller.call(`sip:102@${PUBLIC}`);
      forward(await called.incoming(), `sip:104@${PUBLIC}`);
      // The account has no phone at the moment, but was found.
      expect((await outgoing.refused()).status).to.equal(302);
      const again = await caller.call(`sip:102@${PUBLIC}`);
      await (await called.incoming()).answer();
      await again.answered();
      await again.hangup();
    }
  });
});
