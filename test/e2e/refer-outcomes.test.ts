import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Phone } from '../phones/phone.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const ALICE = '<sip:alice@demo.local>';
const ALWAYS = ['dialogid', 'result', 'ivrcallid'] as const;
const REFUSED = [...ALWAYS, 'new_acallid', 'new_last_response'] as const;
const WHOLE = [...REFUSED, 'new_dialogid'] as const;

interface Scene {
  readonly alice: Phone;
  readonly carol: Phone;
  readonly outgoing: OutgoingCall;
  readonly incoming: IncomingCall;
}

/** What becomes of a transfer of bob (who talks to alice) to carol; gives the fields that mode by mode are answered. */
const OUTCOMES: readonly {
  readonly name: string;
  readonly play: (scene: Scene) => Promise<void>;
  /** `result` and fields in modes 0 to 5. */
  readonly answers: readonly (readonly [result: string, fields: readonly string[]])[];
}[] = [
  {
    name: 'all answer',
    play: async ({ carol, incoming }) => {
      const arriving = await carol.incoming();
      arriving.ring();
      await arriving.answer();
      await expectTalk(incoming, arriving);
      await arriving.hangup();
      await incoming.ended();
    },
    answers: [
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['ok', WHOLE],
      ['ok', WHOLE],
      ['ok', WHOLE],
    ],
  },
  {
    name: 'the target refuses, and the initiator takes the call back',
    play: async ({ alice, carol, incoming }) => {
      (await carol.incoming()).reject(486);
      const back = await alice.incoming();
      await back.answer();
      await expectTalk(incoming, back);
      await incoming.hangup();
      await back.ended();
    },
    answers: [
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['rejected', REFUSED],
      ['rejected', REFUSED],
      ['rejected', REFUSED],
    ],
  },
  {
    name: 'the target refuses, and so does the initiator: the transferred party is released',
    play: async ({ alice, carol, incoming }) => {
      (await carol.incoming()).reject(603);
      (await alice.incoming()).reject(486);
      expect((await incoming.ended()).by).to.equal('there');
    },
    answers: [
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['rejected', REFUSED],
      ['rejected', REFUSED],
      ['rejected', REFUSED],
    ],
  },
  {
    name: 'the transferred party hangs up while the target rings',
    play: async ({ carol, incoming }) => {
      const arriving = await carol.incoming();
      arriving.ring();
      await incoming.hearsSound({ withinMs: 2000 });
      await incoming.hangup();
      expect((await arriving.ended()).by).to.equal('cancelled');
    },
    answers: [
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['ok', WHOLE],
      ['rejected', REFUSED],
      ['rejected', REFUSED],
    ],
  },
  {
    name: 'the phone of the target has vanished',
    play: async ({ alice, carol, incoming }) => {
      await carol.stop({ abruptly: true });
      const back = await alice.incoming(8000);
      await back.answer();
      await expectTalk(incoming, back);
      await incoming.hangup();
      await back.ended();
    },
    answers: [
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['ok', ALWAYS],
      ['rejected', REFUSED],
      ['rejected', REFUSED],
      ['rejected', REFUSED],
    ],
  },
];

describe('REFER: what is answered in which mode', () => {
  const stage = useStage();

  for (const { name, play, answers } of OUTCOMES) {
    for (const [mode, [result, fields]] of answers.entries()) {
      it(`mode ${mode}, ${name}: ${result}`, async () => {
        const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
        const { outgoing, incoming } = await stage.connect(alice, bob, '102');
        await expectTalk(outgoing, incoming);
        const { dialogid } = await stage.dialog();
        const rest = await stage.rest();
        const asked = rest.send('REFER', `${CALLS}/${dialogid}`, {
          body: { by: ALICE, referto: '103', response_mode: mode },
        });
        await play({ alice, carol, outgoing, incoming });
        const answer = await asked;
        expect(answer.status, answer.text).to.equal(200);
        const body = answer.json<Record<string, string>>();
        expect(body).to.include({ dialogid, result });
        expect(Object.keys(body)).to.have.members(fields);
        await stage.expectNoDialog();
        expect([alice.waitingCalls, bob.waitingCalls, carol.waitingCalls]).to.deep.equal([0, 0, 0]);
      });
    }
  }

  it('keeps the labels of a call through three transfers in a row, and adds those of each', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const { incoming } = await stage.connect(alice, bob, '102');
    const rest = await stage.rest();
    const operate = async (method: string, body: object) => {
      const { dialogid } = await stage.dialog();
      return rest.send(method, `${CALLS}/${dialogid}`, { body });
    };
    await operate('SETUP_BINDINGS', { command: 'set', label: ['seance_1', 'PCS:2'] });
    let by = ALICE;
    let last = incoming;
    for (const [number, phone, login] of [
      ['103', carol, 'carol'],
      ['104', dave, 'dave'],
      ['101', alice, 'alice'],
    ] as const) {
      const asked = operate('REFER', { by, referto: number, response_mode: 4, binding: `to_${login}` });
      const arriving = await phone.incoming();
      await arriving.answer();
      expect((await asked).json()).to.include({ result: 'ok' });
      await expectTalk(incoming, arriving);
      by = `<sip:${login}@demo.local>`;
      last = arriving;
    }
    const labels = (await operate('SETUP_BINDINGS', { command: 'get' })).json<{ labels: string[] }>().labels;
    expect(labels).to.deep.equal(['seance_1', 'PCS:2', 'to_carol', 'to_dave', 'to_alice']);
    await last.hangup();
    await incoming.ended();
  });
});
