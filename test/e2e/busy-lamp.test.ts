import { expect } from 'chai';
import type { PhoneSubscription } from '../phones/phone-subscription.ts';
import { useStage } from '../support/stage.ts';

const PATIENCE_MS = 15_000;
const EVENT = { event: 'dialog', expires: 600 } as const;

interface Lamp {
  readonly version: number;
  readonly states: readonly string[];
  readonly directions: readonly string[];
  readonly remotes: readonly string[];
  readonly body: string;
}

function read(body: string): Lamp {
  const all = (pattern: RegExp): string[] => [...body.matchAll(pattern)].map(([, text = '']) => text);
  expect(body).to.include('xmlns="urn:ietf:params:xml:ns:dialog-info"').and.include('state="full"');
  return {
    version: Number(/version="(\d+)"/.exec(body)?.[1]),
    states: all(/<state>(\w+)<\/state>/g),
    directions: all(/direction="(\w+)"/g),
    remotes: all(/<remote><identity[^>]*>([^<]*)/g),
    body,
  };
}

/** The first NOTIFY with these states; earlier ones have intermediate states. */
async function lamp(subscription: PhoneSubscription, ...states: string[]): Promise<Lamp> {
  for (;;) {
    const { state, body } = await subscription.notifies.next(PATIENCE_MS);
    expect(state).to.match(/^active/);
    const found = read(body);
    if (found.states.join() === states.join()) return found;
  }
}

describe('busy lamps', () => {
  const stage = useStage();

  it('follow the calls of a sipuser: free, ringing, busy, on hold, free', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const [called, calling] = [carol.subscription('102', EVENT), carol.subscription('alice', EVENT)];
    for (const each of [called, calling]) expect((await each.send()).status).to.equal(200);
    expect(await lamp(called)).to.include({ version: 0 });
    await lamp(calling);
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    const ringing = await lamp(called, 'early');
    expect(ringing).to.deep.include({ directions: ['recipient'], remotes: ['sip:101@demo.local'] });
    expect(ringing.body).to.include('entity="sip:102@demo.local"').and.include(`call-id="${incoming.callId}"`);
    expect(await lamp(calling, 'early')).to.deep.include({
      directions: ['initiator'],
      remotes: ['sip:102@demo.local'],
    });
    await incoming.answer();
    await outgoing.answered();
    expect((await lamp(called, 'confirmed')).version).to.be.greaterThan(ringing.version);
    await lamp(calling, 'confirmed');
    await incoming.hold();
    expect((await lamp(called, 'confirmed')).body).to.include('pname="+sip.rendering" pval="no"');
    await incoming.unhold();
    expect((await lamp(called, 'confirmed')).body).not.to.include('pval="no"');
    await outgoing.hangup();
    await lamp(called);
    await lamp(calling);
    await called.send(0);
    expect((await called.notifies.next(PATIENCE_MS)).state).to.equal('terminated;reason=timeout');
  });

  it('name the ringing call so that the watching phone picks it up by INVITE with Replaces', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const subscription = carol.subscription('102', EVENT);
    await subscription.send();
    await lamp(subscription);
    const outgoing = await alice.call('102', { headers: [{ name: 'Privacy', value: 'id' }] });
    const incoming = await bob.incoming();
    incoming.ring();
    const { body, remotes } = await lamp(subscription, 'early');
    expect(remotes, 'a withheld number').to.deep.equal(['sip:anonymous@anonymous.invalid']);
    const [, callId, local, remote] = /call-id="([^"]+)" local-tag="([^"]+)" remote-tag="([^"]+)"/.exec(body) ?? [];
    const value = `${callId};to-tag=${remote};from-tag=${local};early-only`;
    const taking = await carol.call('102', { headers: [{ name: 'Replaces', value }] });
    await taking.answered();
    await outgoing.answered();
    expect((await incoming.ended()).by).to.equal('cancelled');
    outgoing.play(440);
    await taking.hears(440, { withinMs: PATIENCE_MS });
    await lamp(subscription);
    await taking.hangup();
  });

  it('are refused for an unknown number, and across domains', async () => {
    const bob = await stage.phone('bob', { unregistered: true });
    expect((await bob.subscription('999', EVENT).send()).status).to.equal(404);
    expect((await bob.subscription('sip:101@other.example', EVENT).send()).status).to.equal(403);
  });
});
