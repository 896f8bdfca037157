/** Two phones without a server, to verify the phones that test the server. */
import { expect } from 'chai';
import { Phone, type PhoneOptions } from './phone.ts';
import type { Protocol } from './sip/transport.ts';

const phones: Phone[] = [];

async function pair(transport: Protocol, options: Partial<PhoneOptions> = {}): Promise<[Phone, Phone]> {
  const start = (login: string): Promise<Phone> => Phone.start({ login, domain: 'test.local', transport, ...options });
  const alice = await start('alice');
  const bob = await start('bob');
  phones.push(alice, bob);
  return [alice, bob];
}

async function talk(alice: Phone, bob: Phone) {
  const outgoing = await alice.call(bob.contact);
  const incoming = await bob.incoming();
  incoming.ring();
  expect(await outgoing.ringing()).to.equal(180);
  await incoming.answer();
  await outgoing.answered();
  return { outgoing, incoming };
}

describe('test phone', () => {
  afterEach(async () => {
    const stopped = phones.splice(0);
    await Promise.all(stopped.map((phone) => phone.stop()));
    for (const phone of stopped) expect(phone.violations, phone.trace().join('\n')).to.deep.equal([]);
  });

  for (const transport of ['udp', 'tcp'] as const) {
    describe(`over ${transport}`, () => {
      it('calls, hears the other phone and is heard, and hangs up', async () => {
        const [alice, bob] = await pair(transport);
        const { outgoing, incoming } = await talk(alice, bob);
        outgoing.play(440);
        incoming.play(620);
        await Promise.all([outgoing.hears(620), incoming.hears(440)]);
        await outgoing.hangup();
        expect(await incoming.ended()).to.deep.equal({ by: 'there' });
        expect(incoming.rtp()).to.include({ lost: 0, outOfOrder: 0, duplicates: 0, ssrcChanges: 0, timestampJumps: 0 });
        expect(incoming.rtp().received).to.be.greaterThan(5);
      });

      it('gets the refusal of the called phone', async () => {
        const [alice, bob] = await pair(transport);
        const outgoing = await alice.call(bob.contact);
        (await bob.incoming()).reject(486);
        expect(await outgoing.refused()).to.deep.equal({ status: 486, reason: 'Busy Here' });
      });

      it('cancels a ringing call', async () => {
        const [alice, bob] = await pair(transport);
        const outgoing = await alice.call(bob.contact);
        const incoming = await bob.incoming();
        incoming.ring();
        await outgoing.ringing();
        await outgoing.cancel();
        expect(await incoming.ended()).to.deep.equal({ by: 'cancelled' });
        expect((await outgoing.ended()).by).to.equal('cancelled');
      });
    });
  }

  it('holds and resumes by re-INVITE from either side', async () => {
    const [alice, bob] = await pair('udp');
    const { outgoing, incoming } = await talk(alice, bob);
    outgoing.play(440);
    incoming.play(620);
    await outgoing.hold();
    expect(await incoming.directions.next(1000)).to.equal('sendonly');
    await incoming.hears(440);
    await outgoing.hearsNot(620, { forMs: 300 });
    await outgoing.unhold();
    expect(await incoming.directions.next(1000)).to.equal('sendrecv');
    await outgoing.hears(620);
    await incoming.hold('inactive');
    expect(await outgoing.directions.next(1000)).to.equal('inactive');
    await incoming.hearsNot(440, { forMs: 300 });
    await incoming.unhold();
    await incoming.hears(440);
  });

  it('sends digits by RFC 4733 and by INFO', async () => {
    const [alice, bob] = await pair('udp');
    const { outgoing, incoming } = await talk(alice, bob);
    await outgoing.sendDtmf('19#*');
    await incoming.receivesDtmf('19#*');
    await outgoing.sendDtmf('5', { by: 'info' });
    expect(incoming.infos).to.deep.equal(['Signal=5\r\nDuration=160\r\n']);
    expect(incoming.rtp()).to.include({ lost: 0, timestampJumps: 0 });
  });

  it('agrees on the common codec', async () => {
    const [alice, bob] = await pair('udp', { codecs: ['PCMA'] });
    const { outgoing, incoming } = await talk(alice, bob);
    incoming.play(1000);
    await outgoing.hears(1000);
    expect(outgoing.session.remote?.codecs).to.deep.equal(['PCMA']);
  });

  it('hears early media', async () => {
    const [alice, bob] = await pair('udp');
    const outgoing = await alice.call(bob.contact);
    const incoming = await bob.incoming();
    incoming.play(425);
    incoming.ringWithEarlyMedia();
    expect(await outgoing.earlyMedia()).to.equal(183);
    await outgoing.hears(425);
    await incoming.answer();
    await outgoing.answered();
  });

  it('works without an offer in the INVITE: the 200 offers and the ACK answers', async () => {
    const [alice, bob] = await pair('udp');
    const outgoing = await alice.call(bob.contact, { lateOffer: true });
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    outgoing.play(440);
    incoming.play(620);
    await Promise.all([outgoing.hears(620), incoming.hears(440)]);
    expect((await incoming.reinvite({ offerless: true })).status).to.equal(200);
    expect((await outgoing.update()).status).to.equal(200);
    await Promise.all([outgoing.hears(620), incoming.hears(440)]);
  });

  it('names the tones it heard when an expected one is missing', async () => {
    const [alice, bob] = await pair('udp');
    const { outgoing, incoming } = await talk(alice, bob);
    incoming.play(700);
    await outgoing.hears(700);
    const failure = await outgoing.hears(440, { withinMs: 300 }).catch((error: unknown) => error);
    expect(String(failure)).to.match(
      /440 Hz not heard within 300 ms; \d+ samples came, the strongest tone being 700 Hz/,
    );
  });
});
