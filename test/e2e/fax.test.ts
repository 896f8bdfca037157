import { expect } from 'chai';
import type { FaxMachine } from '../phones/media/fax-machine.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import type { PhoneOptions } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { type Connected, useStage } from '../support/stage.ts';
import { expectTalk, referProgress } from './expectations.ts';

/** UDPTL packets (ITU-T T.38 clause 9.1): a number, an IFP packet, and no redundancy. Some look like RTP by their first octet. */
const PACKETS = [0, 1, 2, 0x8000, 0x8001, 0xbfff].map((number) =>
  Buffer.from([number >> 8, number & 0xff, 1, 0x06 + (number & 1), 0, 0]),
);

const FIRST = Buffer.from([0x12, 0x34, 1, 0, 0, 0]);

function machine(call: PhoneCall): FaxMachine {
  if (call.session.fax === undefined) throw new Error('the phone cannot fax');
  return call.session.fax;
}

/** Every packet of each reaches the other as it was. */
async function expectFax(one: PhoneCall, other: PhoneCall): Promise<void> {
  for (const [from, to] of [
    [machine(one), machine(other)],
    [machine(other), machine(one)],
  ] as const) {
    // Until both sides have changed, which takes up to a frame of sound.
    await eventually(async () => {
      from.send(FIRST);
      await to.gets(FIRST, 50);
    });
    to.received.length = 0;
    for (const packet of PACKETS) from.send(packet);
    for (const packet of PACKETS) await to.gets(packet, 15_000);
    const received = to.received.filter((packet) => !packet.equals(FIRST)).map((packet) => packet.toString('hex'));
    expect(received).to.deep.equal(PACKETS.map((packet) => packet.toString('hex')));
  }
}

// A real drachtio-server cancels no re-INVITE (docs/conformance.md).
describe('a fax by T.38', () => {
  const stage = useStage();

  async function connect(
    alice: Partial<PhoneOptions> = { faxes: true },
    bob: Partial<PhoneOptions> = { faxes: true },
  ): Promise<Connected> {
    const call = await stage.connect(await stage.phone('alice', alice), await stage.phone('bob', bob), '102');
    await expectTalk(call.outgoing, call.incoming);
    return call;
  }

  for (const [side, form] of [
    ['caller', 'alone'],
    ['called phone', 'beside sound'],
  ] as const) {
    it(`offered by the ${side}, ${form}, goes both ways as it is, and back to sound`, async () => {
      const { outgoing, incoming } = await connect();
      const [offerer, other] = side === 'caller' ? [outgoing, incoming] : [incoming, outgoing];
      expect(await offerer.offerFax(form)).to.equal(200);
      await expectFax(offerer, other);
      expect(await offerer.offerSound()).to.equal(200);
      expect(other.session.wantsFax).to.equal(undefined);
      await expectTalk(outgoing, incoming);
      expect(await other.offerFax(form)).to.equal(200);
      await expectFax(offerer, other);
      expect(await offerer.offerSound()).to.equal(200);
      await expectTalk(outgoing, incoming);
      await outgoing.hold();
      await outgoing.unhold();
      await expectTalk(outgoing, incoming);
    });
  }

  for (const side of ['first', 'second'] as const) {
    it(`between two phones that were both called, offered by the ${side}, goes both ways, and back to sound`, async () => {
      const [alice, bob] = [await stage.phone('alice', { faxes: true }), await stage.phone('bob', { faxes: true })];
      const started = await stage.operate('POST', { from: '101', to: '102', response_mode: 0 });
      expect(started.status, started.text).to.equal(200);
      const first = await alice.incoming();
      await first.answer();
      const second = await bob.incoming();
      await second.answer();
      await expectTalk(first, second);
      const [offerer, other] = side === 'first' ? [first, second] : [second, first];
      expect(await offerer.offerFax()).to.equal(200);
      await expectFax(first, second);
      expect(await other.offerSound()).to.equal(200);
      await expectTalk(first, second);
      expect(await other.offerFax()).to.equal(200);
      await expectFax(first, second);
    });
  }

  it('goes on while its session is refreshed, with and without an offer', async () => {
    const { outgoing, incoming } = await connect();
    expect(await outgoing.offerFax()).to.equal(200);
    expect((await outgoing.reinvite()).status).to.equal(200);
    expect((await outgoing.update()).status).to.equal(200);
    expect((await incoming.reinvite()).status).to.equal(200);
    await expectFax(outgoing, incoming);
  });

  it('goes between phones with different codecs', async () => {
    const { outgoing, incoming } = await connect({ faxes: true, codecs: ['G722'] }, { faxes: true, codecs: ['PCMA'] });
    expect(await outgoing.offerFax()).to.equal(200);
    await expectFax(outgoing, incoming);
    expect(await incoming.offerSound()).to.equal(200);
    await expectTalk(outgoing, incoming);
  });

  for (const status of [488, 415]) {
    it(`refused by the other phone with ${status} is 488, and the sound goes on`, async () => {
      const { outgoing, incoming } = await connect();
      incoming.refuses = status;
      expect(await outgoing.offerFax()).to.equal(488);
      await expectTalk(outgoing, incoming);
      incoming.refuses = undefined;
      expect(await outgoing.offerFax()).to.equal(200);
      await expectFax(outgoing, incoming);
    });
  }

  it('to a phone that accepts the offer without its stream is 488, and the sound goes on', async () => {
    const { outgoing, incoming } = await connect();
    const describe = machine(incoming).describe.bind(machine(incoming));
    machine(incoming).describe = (sdp) => describe(sdp).replace(/^m=image \d+/m, 'm=image 0');
    expect(await outgoing.offerFax()).to.equal(488);
    await expectTalk(outgoing, incoming);
  });

  it('is refused with 491 to the second of two phones that offer it at once', async () => {
    const { outgoing, incoming } = await connect();
    const late = Promise.withResolvers<void>();
    incoming.delays = () => late.promise;
    const first = outgoing.offerFax();
    await eventually(async () => expect(await incoming.offerFax()).to.equal(491));
    late.resolve();
    expect(await first).to.equal(200);
    incoming.session.wantsFax = 'alone';
    await expectFax(outgoing, incoming);
  });

  it('is taken back at the other phone when its offerer cancels, and may be offered again', async function () {
    if (REAL_SIP) this.skip();
    const { outgoing, incoming } = await connect();
    const never = Promise.withResolvers<void>();
    const asked = new Promise<void>((resolve) => {
      incoming.delays = () => {
        resolve();
        return never.promise;
      };
    });
    expect(await outgoing.offerFax('alone', asked)).to.equal(487);
    await incoming.cancelledOffers.next(5000);
    await expectTalk(outgoing, incoming);
    incoming.delays = () => Promise.resolve();
    expect(await outgoing.offerFax()).to.equal(200);
    await expectFax(outgoing, incoming);
  });

  it('that the other phone does not answer in time is cancelled there', async function () {
    if (REAL_SIP) this.skip();
    this.timeout(30_000);
    const { outgoing, incoming } = await connect();
    const never = Promise.withResolvers<void>();
    incoming.delays = () => never.promise;
    expect(await outgoing.offerFax()).to.equal(488);
    await incoming.cancelledOffers.next(5000);
    await expectTalk(outgoing, incoming);
  });

  it('stays when the other phone refuses sound', async () => {
    const { outgoing, incoming } = await connect();
    expect(await outgoing.offerFax()).to.equal(200);
    incoming.refuses = 488;
    expect(await outgoing.offerSound()).to.equal(488);
    await expectFax(outgoing, incoming);
  });

  for (const moment of ['while it is offered', 'while it is sent', 'while sound is offered'] as const) {
    for (const side of ['caller', 'called phone'] as const) {
      it(`ends with the call when the ${side} hangs up ${moment}`, async () => {
        const { outgoing, incoming } = await connect();
        if (moment !== 'while it is offered') expect(await outgoing.offerFax()).to.equal(200);
        const never = Promise.withResolvers<void>();
        let open: Promise<unknown> = Promise.resolve();
        if (moment !== 'while it is sent') {
          const asked = new Promise<void>((resolve) => {
            incoming.delays = () => {
              resolve();
              return never.promise;
            };
          });
          open = (moment === 'while it is offered' ? outgoing.offerFax() : outgoing.offerSound()).catch(
            () => undefined,
          );
          await asked;
        }
        await (side === 'caller' ? outgoing : incoming).hangup();
        await (side === 'caller' ? incoming : outgoing).ended();
        never.resolve();
        await open;
        await stage.expectNoDialog();
      });
    }
  }

  it('goes back to sound when the call is transferred to a scenario', async () => {
    const { outgoing, incoming } = await connect();
    expect(await outgoing.offerFax()).to.equal(200);
    const target = { name: 'Refer-To', value: '<sip:501@demo.local>' };
    expect((await outgoing.request('REFER', [target])).status).to.equal(202);
    await referProgress(outgoing);
    await outgoing.hangup();
    expect(incoming.session.wantsFax).to.equal(undefined);
    incoming.play(700);
    await incoming.hears(700);
  });

  it('is refused with 488 where the other party is a scenario', async () => {
    const call = await (await stage.phone('alice', { faxes: true })).call('501');
    await call.answered();
    call.play(440);
    await call.hears(440);
    expect(await call.offerFax()).to.equal(488);
    await call.hears(440);
  });

  it('is refused with 488 beside encrypted sound, as UDPTL is not encrypted', async () => {
    const { outgoing, incoming } = await connect({ faxes: true, srtp: 'AES_CM_128_HMAC_SHA1_80' });
    expect(await incoming.offerFax()).to.equal(488);
    await expectTalk(outgoing, incoming);
  });
});
