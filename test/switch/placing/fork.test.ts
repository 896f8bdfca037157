import { expect } from 'chai';
import { answer, type SipAnswer } from '../../../runtime/signalling/answers.ts';
import type {
  OutgoingInvite,
  OutgoingInviteOptions,
  OutgoingInviteResult,
} from '../../../runtime/signalling/outgoing-invite.ts';
import type { SipDialog } from '../../../runtime/signalling/sip-dialog.ts';
import { bestAnswer, Fork } from '../../../runtime/switch/placing/fork.ts';
import { eventually } from '../../support/eventually.ts';

/** A called phone under the test's hand. */
class ScriptedInvite {
  readonly #result = Promise.withResolvers<OutgoingInviteResult>();
  readonly options: OutgoingInviteOptions;
  cancelled = false;
  bye = false;
  constructor(options: OutgoingInviteOptions) {
    this.options = options;
  }
  get result(): Promise<OutgoingInviteResult> {
    return this.#result.promise;
  }
  cancel(): void {
    this.cancelled = true;
  }
  pickUp(sdp = 'v=0'): void {
    const dialog = {
      bye: () => {
        this.bye = true;
        return Promise.resolve();
      },
    } as unknown as SipDialog;
    this.#result.resolve({ answered: true, dialog, sdp, answer: answer(200, 'OK', false), allowEvents: [] });
  }
  refuse(status: number, contacts: readonly string[] = []): void {
    this.#result.resolve({ answered: false, answer: answer(status, undefined, false), contacts });
  }
}

const target = (callId: string) => ({ account: 'a', uri: 'sip:x', callId, from: '', to: '', sdp: '' });

function fork(count: number, timeoutMs = 10_000) {
  const invites: ScriptedInvite[] = [];
  const failed: string[] = [];
  const provisional: SipAnswer[] = [];
  const made = new Fork(
    (options) => {
      const invite = new ScriptedInvite(options);
      invites.push(invite);
      return invite as unknown as OutgoingInvite;
    },
    Array.from({ length: count }, (_, index) => target(`c${index}`)),
    timeoutMs,
    {
      provisional: (_target, given) => provisional.push(given),
      failed: ({ callId }, refusal) => {
        failed.push(callId);
        return refusal;
      },
      screens: false,
      accept: (_target, { sdp }) => Promise.resolve(sdp === 'v=0' ? undefined : answer(488, undefined, true)),
      part: (_target, dialog, reason) => void dialog.bye({ Reason: reason }),
      redirected: (_target, contacts) =>
        Promise.resolve(contacts.filter((contact) => contact !== 'nobody').map(target)),
    },
  );
  return { made, invites, failed, provisional };
}

describe('a forked call', () => {
  it('goes to the first phone that answers; the others are cancelled', async () => {
    const { made, invites } = fork(3);
    invites[1]?.pickUp();
    const outcome = await made.outcome;
    expect(outcome.answered && outcome.target.callId).to.equal('c1');
    expect(invites.map((invite) => invite.cancelled)).to.deep.equal([true, true, true]);
  });

  it('sends BYE to a second phone that answers at the same moment', async () => {
    const { made, invites } = fork(2);
    invites[0]?.pickUp();
    await made.outcome;
    invites[1]?.pickUp();
    await invites[1]?.result;
    await Promise.resolve();
    expect(invites.map((invite) => invite.bye)).to.deep.equal([false, true]);
  });

  it('sends BYE to a phone with an unusable answer, and goes to the next that answers', async () => {
    const { made, invites, failed } = fork(2);
    invites[0]?.pickUp('unusable');
    invites[1]?.pickUp();
    const outcome = await made.outcome;
    expect(outcome.answered && outcome.target.callId).to.equal('c1');
    expect(invites.map((invite) => invite.bye)).to.deep.equal([true, false]);
    expect(failed).to.deep.equal(['c0']);
  });

  it('ends with 488 when all answers are unusable', async () => {
    const { made, invites } = fork(1);
    invites[0]?.pickUp('');
    expect((await made.outcome).answer).to.include({ status: 488, local: true });
  });

  it('fails with the best refusal when all refuse', async () => {
    const { made, invites, failed } = fork(2);
    invites[0]?.refuse(480);
    invites[1]?.refuse(486);
    const outcome = await made.outcome;
    expect(outcome.answered).to.equal(false);
    expect(outcome.answer.line).to.equal('SIP/2.0 486 Busy Here');
    expect(failed).to.deep.equal(['c0', 'c1']);
  });

  it('follows a redirection, whose target decides', async () => {
    const { made, invites } = fork(1);
    invites[0]?.refuse(302, ['elsewhere']);
    await invites[0]?.result;
    await Promise.resolve();
    invites[1]?.pickUp();
    const outcome = await made.outcome;
    expect(outcome.answered && outcome.target.callId).to.equal('elsewhere');
  });

  it('ends with the redirection when its target is unknown', async () => {
    const { made, invites } = fork(1);
    invites[0]?.refuse(302, ['nobody']);
    expect((await made.outcome).answer.status).to.equal(302);
  });

  it('ends for all phones with a 6xx of one', async () => {
    const { made, invites } = fork(2);
    invites[0]?.refuse(603);
    expect((await made.outcome).answer.status).to.equal(603);
    expect(invites[1]?.cancelled).to.equal(true);
  });

  it('ends with a local 408 at the timeout, and all phones are cancelled', async () => {
    const { made, invites } = fork(2, 5);
    const outcome = await made.outcome;
    expect(outcome.answer).to.deep.include({ status: 408, local: true });
    expect(invites.every((invite) => invite.cancelled)).to.equal(true);
  });

  it('cannot be cancelled after an answer', async () => {
    const { made, invites } = fork(1);
    invites[0]?.pickUp();
    await made.outcome;
    made.cancel(answer(487, undefined, true));
    expect((await made.outcome).answered).to.equal(true);
  });

  it('passes on no provisional response after its end', () => {
    const { made, invites, provisional } = fork(1);
    invites[0]?.options.onProvisional(answer(180, undefined, false), undefined);
    made.cancel(answer(487, undefined, true));
    invites[0]?.options.onProvisional(answer(183, undefined, false), undefined);
    expect(provisional.map(({ status }) => status)).to.deep.equal([180]);
  });
});

describe('the best answer of a fork', () => {
  const cases: [number[], number][] = [
    [[404, 603], 603],
    [[486, 404], 486],
    [[503, 480], 480],
    [[302, 486], 302],
  ];
  for (const [given, best] of cases) {
    it(`of ${given.join(' and ')} is ${best}`, () => {
      expect(bestAnswer(given.map((status) => answer(status, undefined, false))).status).to.equal(best);
    });
  }

  it('prefers any answer to that of an unreachable contact', () => {
    const gone = { ...answer(480, undefined, true), unreached: true };
    expect(bestAnswer([gone, answer(488, undefined, true)]).status).to.equal(488);
  });

  it('prefers the response of a phone to one generated by the network', () => {
    expect(bestAnswer([answer(408, undefined, true), answer(480, undefined, false)]).status).to.equal(480);
  });

  describe('with addresses that may be silent', () => {
    function patient(isThere: boolean) {
      const invites: ScriptedInvite[] = [];
      const asked: number[] = [];
      const made = new Fork(
        (options) => {
          const invite = new ScriptedInvite(options);
          invites.push(invite);
          return invite as unknown as OutgoingInvite;
        },
        [
          {
            ...target('first'),
            patience: {
              ms: 2,
              isThere: (ms) => {
                asked.push(ms);
                return Promise.resolve(isThere);
              },
            },
          },
        ],
        10_000,
        {
          screens: false,
          provisional: () => undefined,
          failed: (_target, refusal) => refusal,
          accept: () => Promise.resolve(undefined),
          part: () => undefined,
          redirected: () => Promise.resolve([]),
          next: ({ callId }) => (callId === 'first' ? Promise.resolve([target('second')]) : undefined),
        },
      );
      return { made, invites, asked };
    }

    it('one that answers nothing is cancelled, and the next is called; its late ringing and answer change nothing', async () => {
      const { made, invites } = patient(false);
      await eventually(() => Promise.resolve(expect(invites).to.have.length(2)));
      expect(invites[0]?.cancelled).to.equal(true);
      invites[0]?.refuse(487);
      invites[1]?.pickUp();
      const outcome = await made.outcome;
      expect(outcome.answered && outcome.target.callId).to.equal('second');
    });

    it('one that answers OPTIONS is only slow, and keeps the call', async () => {
      const { made, invites, asked } = patient(true);
      await eventually(() => Promise.resolve(expect(asked).to.deep.equal([1])));
      invites[0]?.pickUp();
      const outcome = await made.outcome;
      expect(outcome.answered && outcome.target.callId).to.equal('first');
      expect(invites).to.have.length(1);
    });
  });
});
