import { expect } from 'chai';
import { OutgoingCall } from '../phones/outgoing-call.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import { header } from '../phones/sip/message.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { runsOf } from '../support/runs.ts';
import { eventually } from '../support/eventually.ts';
import { expectTalk } from './expectations.ts';

const NOT_APPLICABLE = { status: 422, code: 1405 };

describe('operations on one side of a call', () => {
  const stage = useStage();

  /** Runs an operation on the only dialog; returns status, error code, field and body of the answer. */
  async function operate(method: string, body: object, id?: string) {
    const dialogid = id ?? (await stage.dialog()).dialogid;
    const answer = await (await stage.rest()).send(method, `${CALLS}/${dialogid}`, { body });
    const json = answer.json<{ error_code?: number; error_details?: { field: string } }>();
    return { status: answer.status, code: json.error_code, field: json.error_details?.field, json, dialogid };
  }

  async function legs() {
    const { legs: all } = await stage.dialog();
    return {
      a: all.find(({ side }) => side === 'a')?.callid ?? '',
      b: all.find(({ side }) => side === 'b')?.callid ?? '',
    };
  }

  describe('NOTIFY', () => {
    it('sends an allowed event to either side', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { a, b } = await legs();
      for (const [callid, phone, event] of [
        [a, outgoing, 'hold'],
        [b, incoming, 'talk'],
      ] as const) {
        const { status, json, dialogid } = await operate('NOTIFY', { callid, event });
        expect([status, json]).to.deep.equal([200, { result: 'ok', dialogid }]);
        expect(header(await phone.notifies.next(1000), 'event')).to.equal(event);
      }
      await expectTalk(outgoing, incoming);
    });

    it('reaches a ringing phone before it answers', async () => {
      const alice = await stage.phone('alice');
      // No SIP server counts the CSeq of an early dialog: the OPTIONS after the answer has the number of the NOTIFY.
      const bob = await stage.phone('bob', { tolerates: /OPTIONS in dialog: CSeq/ });
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await outgoing.ringing();
      const { b } = await legs();
      expect((await operate('NOTIFY', { callid: b, event: 'talk' })).status).to.equal(200);
      expect(header(await incoming.notifies.next(1000), 'event')).to.equal('talk');
      await incoming.answer();
      await outgoing.answered();
      await expectTalk(outgoing, incoming);
      await outgoing.hangup();
      await incoming.ended();
    });

    it('is refused for other events, the caller of a ringing call, and an unknown leg', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await outgoing.ringing();
      const { a, b } = await legs();
      for (const [body, field] of [
        [{ callid: b, event: 'park' }, 'event'],
        [{ callid: a, event: 'talk' }, 'callid'],
        [{ callid: 'nobody', event: 'talk' }, 'callid'],
      ] as const)
        expect(await operate('NOTIFY', body)).to.include({ ...NOT_APPLICABLE, field });
      expect(await operate('NOTIFY', { callid: b })).to.include({ status: 400, field: 'event' });
      expect(await operate('NOTIFY', { callid: b, event: 'a b' })).to.include({ status: 400, field: 'event' });
      expect(incoming.notifies.pending).to.equal(0);
      await outgoing.cancel();
    });
  });

  describe('SEND_DTMF', () => {
    it('queues digits with pauses for a leg, by RFC 4733 and INFO, and answers at once', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await expectTalk(outgoing, incoming);
      const began = performance.now();
      const { status, json, dialogid } = await operate('SEND_DTMF', { side: 'b', dtmf: "1'2", proto: 'rfc2833' });
      expect([status, json]).to.deep.equal([200, { result: 'ok', dialogid }]);
      expect(incoming.session.rtp.digits, 'sent before the answer').not.to.contain('2');
      expect((await operate('SEND_DTMF', { side: 'b', dtmf: '3', proto: 'rfc2833' })).status).to.equal(200);
      await incoming.receivesDtmf('123', { withinMs: 5000 });
      expect(performance.now() - began).to.be.greaterThan(1200);
      const { a } = await legs();
      for (const body of [
        { callid: a, dtmf: '5#' },
        { side: a, dtmf: '6' },
        { side: 'b', opposite: true, dtmf: 'a' },
      ])
        expect((await operate('SEND_DTMF', body)).status).to.equal(200);
      const keys = () => outgoing.infos.map((info) => /Signal=(.)/.exec(info)?.[1]).join('');
      await eventually(async () => expect(keys()).to.equal('5#6A'));
    });

    it('is refused without a leg, without digits, and before the answer', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await outgoing.ringing();
      expect(await operate('SEND_DTMF', { dtmf: '1' })).to.include({ status: 400, field: 'callid' });
      expect(await operate('SEND_DTMF', { side: 'a', dtmf: '1x' })).to.include({ status: 400, field: 'dtmf' });
      expect(await operate('SEND_DTMF', { side: 'a', dtmf: '1', proto: 'x' })).to.include({
        status: 400,
        field: 'proto',
      });
      expect(await operate('SEND_DTMF', { side: 'a', dtmf: '1' })).to.include({ ...NOT_APPLICABLE, field: 'dialogid' });
      await outgoing.cancel();
    });

    it('reaches a scenario like keys pressed by its caller', async () => {
      const [alice] = await stage.phones('alice');
      const outgoing = await alice.call('500');
      await outgoing.answered();
      await outgoing.hearsSound();
      expect((await operate('SEND_DTMF', { side: 'b', dtmf: '1' })).status).to.equal(200);
      const rest = await stage.rest();
      await eventually(async () => expect(JSON.stringify(await runsOf(rest, 'menu'))).to.match(/"1"/));
      await outgoing.hangup();
    });
  });

  describe('STOP_HOLD_MELODY', () => {
    const stop = (mode?: string) => operate('STOP_HOLD_MELODY', mode === undefined ? {} : { mode });
    /** The waiting side hears something during hold; both phones are silent themselves. */
    const hasMelody = (waiting: PhoneCall) => waiting.hearsSound();
    /** The waiting side hears nothing, once earlier packets have arrived. */
    const isSilent = (waiting: PhoneCall) =>
      eventually(async () => {
        const heard = await waiting.hearsSound({ withinMs: 600 }).then(
          () => true,
          () => false,
        );
        expect(heard, 'sound').to.equal(false);
      });
    /** Holds with a silent phone, so that all sound at the other one is the melody. */
    const hold = async (holder: PhoneCall, waiting: PhoneCall) => {
      holder.play(undefined);
      await eventually(() => waiting.hearsNot(holder instanceof OutgoingCall ? 440 : 620, { forMs: 100 }));
      await holder.hold();
    };

    it('mode temporary stops the melody during a hold, and is refused without one', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await expectTalk(outgoing, incoming);
      expect(await stop()).to.include({ ...NOT_APPLICABLE, field: 'mode' });
      const path = `${CALLS}/${(await stage.dialog()).dialogid}`;
      const dry = await (await stage.rest()).send('STOP_HOLD_MELODY', path, { body: {}, query: { dry_run: true } });
      expect(dry.status, dry.text).to.equal(422);
      await hold(outgoing, incoming);
      await hasMelody(incoming);
      const { status, json, dialogid } = await stop();
      expect([status, json]).to.deep.equal([200, { result: 'ok', dialogid }]);
      await isSilent(incoming);
      await outgoing.unhold();
      await expectTalk(outgoing, incoming);
      await hold(incoming, outgoing);
      await hasMelody(outgoing);
      await incoming.unhold();
      await expectTalk(outgoing, incoming);
    });

    it('mode once silences one hold, mode permanent all holds', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await expectTalk(outgoing, incoming);
      const round = async (hears: (waiting: PhoneCall) => Promise<void>) => {
        await hold(outgoing, incoming);
        await hears(incoming);
        await outgoing.unhold();
        await expectTalk(outgoing, incoming);
      };
      expect((await stop('once')).status).to.equal(200);
      await round(isSilent);
      await round(hasMelody);
      expect((await stop('permanent')).status).to.equal(200);
      await round(isSilent);
      await round(isSilent);
      expect(await stop('forever')).to.include({ status: 400, field: 'mode' });
    });
  });
});
