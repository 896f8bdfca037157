import { expect } from 'chai';
import { level } from '../phones/media/tone.ts';
import { OutgoingCall } from '../phones/outgoing-call.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import type { Phone } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const RULES = '/rest/v1/domain/recordingrules';
const RECORDINGS = '/rest/v1/domain/recordings';
/** Hertz. */
const ALICE = 500;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Recording {
  readonly id: string;
  readonly dialogid: string;
  readonly status: string;
  readonly parties: readonly { readonly number: string; readonly channel: number }[];
}

interface Phones {
  readonly bob: Phone;
  readonly carol: Phone;
}

/** Alice's call with bob, before the transfer. */
interface FirstCall {
  readonly alice: PhoneCall;
  readonly bob: PhoneCall;
  readonly dialogid: string;
}

/** Settings of a call apply to the calls that transfers make of it. */
describe('call settings after a transfer', () => {
  const stage = useStage();
  let rest: RestClient;

  async function removeAll(): Promise<void> {
    for (const path of [RULES, RECORDINGS]) {
      for (const { id } of (await rest.get(path)).json<{ id: string }[]>()) await rest.send('DELETE', `${path}/${id}`);
    }
  }

  beforeEach(async () => {
    rest = await stage.rest();
    await removeAll();
  });
  afterEach(removeAll);

  const operate = (method: string, dialogid: string, body: object) =>
    rest.send(method, `${CALLS}/${dialogid}`, { body });

  /** The answered dialog of this leg, other than `before`. */
  async function dialogOf({ callId }: PhoneCall, before = ''): Promise<string> {
    return eventually(async () => {
      const found = (await stage.dialogs()).find(
        ({ callids, status, dialogid }) => callids.includes(callId) && status === 'dialog' && dialogid !== before,
      );
      if (found === undefined) throw new Error('no such dialog');
      return found.dialogid;
    });
  }

  async function answeredBy(phone: Phone): Promise<PhoneCall> {
    const call = await phone.incoming();
    await call.answer();
    return call;
  }

  async function consult({ bob, carol }: Phones): Promise<{ outgoing: PhoneCall; incoming: PhoneCall }> {
    return stage.connect(bob, carol, '103');
  }

  /** Each transfers alice's call from bob to carol, or moves it into a room; returns the new other end of the call. */
  const WAYS: readonly (readonly [string, (call: FirstCall, phones: Phones) => Promise<PhoneCall>])[] = [
    [
      'REFER',
      async ({ dialogid }, { carol }) => {
        const body = { by: '<sip:bob@demo.local>', referto: '103', response_mode: 4 };
        const [answer, call] = await Promise.all([operate('REFER', dialogid, body), answeredBy(carol)]);
        expect(answer.json(), answer.text).to.include({ result: 'ok' });
        return call;
      },
    ],
    [
      'REFERREPLACES',
      async ({ dialogid }, phones) => {
        const { outgoing, incoming } = await consult(phones);
        const bob = '<sip:bob@demo.local>';
        const slave = { slaveby: bob, slavedialogid: await dialogOf(outgoing) };
        const answer = await operate('REFERREPLACES', dialogid, { masterby: bob, ...slave, response_mode: 5 });
        expect(answer.json(), answer.text).to.include({ result: 'ok' });
        return incoming;
      },
    ],
    [
      'SWITCHCONF',
      async ({ dialogid, bob }) => {
        const answer = await operate('SWITCHCONF', dialogid, { response_mode: 5 });
        expect(answer.json(), answer.text).to.include({ result: 'ok' });
        return bob;
      },
    ],
    [
      'a REFER of a phone',
      async ({ bob }, { carol }) => {
        expect((await bob.request('REFER', [{ name: 'Refer-To', value: '<sip:103@demo.local>' }])).status).to.equal(
          202,
        );
        return answeredBy(carol);
      },
    ],
    [
      'a REFER of a phone with Replaces',
      async ({ bob }, phones) => {
        const { outgoing, incoming } = await consult(phones);
        const target = `<sip:103@demo.local?Replaces=${encodeURIComponent(outgoing.replaces)}>`;
        expect((await bob.request('REFER', [{ name: 'Refer-To', value: target }])).status).to.equal(202);
        return incoming;
      },
    ],
    [
      'an INVITE with Replaces',
      async ({ bob }, { carol }) => {
        const call = await carol.call('101', { headers: [{ name: 'Replaces', value: bob.replaces }] });
        await call.answered();
        return call;
      },
    ],
  ];

  async function firstCall(): Promise<FirstCall & { readonly phones: Phones }> {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    return { alice: outgoing, bob: incoming, dialogid: await dialogOf(outgoing), phones: { bob, carol } };
  }

  /** Tenths of a second of alice's recorded sound: audible or not. */
  async function heard({ id, parties }: Recording): Promise<string> {
    const response = await fetch(`${stage.node.base}${RECORDINGS}/${id}/file`, { headers: rest.authorization });
    const wav = Buffer.from(await response.arrayBuffer());
    const channel = parties.find(({ number }) => number === '101')?.channel ?? 0;
    const samples = Int16Array.from({ length: Math.floor((wav.length - 44) / 4) }, (_, at) =>
      wav.readInt16LE(44 + at * 4 + channel * 2),
    );
    const tenths = Array.from({ length: Math.floor(samples.length / 800) }, (_, at) =>
      level(samples.slice(at * 800, (at + 1) * 800)) > 500 ? 'x' : '.',
    );
    return tenths.join('');
  }

  describe('a paused recording', () => {
    for (const [way, transfer] of WAYS) {
      it(`stays paused through ${way}, until resume`, async () => {
        expect((await rest.send('POST', RULES, { body: {} })).status).to.equal(200);
        const { phones, ...call } = await firstCall();
        const { alice, dialogid } = call;
        alice.play(ALICE);
        await call.bob.hears(ALICE);
        expect((await operate('SETUP_RECORD', dialogid, { command: 'pause' })).status).to.equal(200);
        const other = await transfer(call, phones);
        await other.hears(ALICE, { withinMs: 5000 });
        const now = await dialogOf(alice, dialogid);
        expect((await operate('SETUP_RECORD', now, { command: 'pause' })).text).to.contain('paused already');
        await pause(400);
        const resumed = await operate('SETUP_RECORD', now, { command: 'resume' });
        expect(resumed.status, resumed.text).to.equal(200);
        await pause(500);
        await alice.hangup();
        const recording = await eventually(async () => {
          const all = (await rest.get(RECORDINGS)).json<Recording[]>();
          const found = all.find((each) => each.dialogid === now && each.status === 'saved');
          if (found === undefined) throw new Error(`no recording of the new call: ${JSON.stringify(all)}`);
          return found;
        }, 5000);
        expect(await heard(recording)).to.match(/^\.{3,}x{3,}\.*$/);
      });
    }
  });

  describe('a permanently stopped hold melody', () => {
    /** Whether the waiting side hears something during hold; both phones are silent themselves. */
    async function melody(holder: PhoneCall, waiting: PhoneCall): Promise<boolean> {
      holder.play(undefined);
      await eventually(() => waiting.hearsNot(holder instanceof OutgoingCall ? 440 : 620, { forMs: 100 }));
      await holder.hold();
      return waiting.hearsSound({ withinMs: 600 }).then(
        () => true,
        () => false,
      );
    }

    for (const [way, transfer] of WAYS) {
      if (way === 'SWITCHCONF') continue; // a room has no hold melody
      it(`stays stopped through ${way}`, async () => {
        const { phones, ...call } = await firstCall();
        expect((await operate('STOP_HOLD_MELODY', call.dialogid, { mode: 'permanent' })).status).to.equal(200);
        const other = await transfer(call, phones);
        await dialogOf(call.alice, call.dialogid);
        await expectTalk(call.alice, other);
        expect(await melody(call.alice, other)).to.equal(false);
      });
    }
  });
});
