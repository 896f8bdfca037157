import { expect } from 'chai';
import { SipTransportError } from '../../../runtime/embedded/stack/errors.ts';
import {
  type NonInviteClientEvent,
  type NonInviteClientState,
  NonInviteClientTransaction,
} from '../../../runtime/embedded/stack/non-invite-client.ts';
import { DEFAULT_TIMER_VALUES } from '../../../runtime/embedded/stack/timers.ts';
import { ManualTimers } from './manual-timers.ts';
import { answer, INVITE, request } from './messages.ts';

function setUp(reliable = false) {
  const timers = new ManualTimers();
  const options = request(INVITE.replaceAll('INVITE', 'OPTIONS'));
  const times: number[] = [];
  const told: string[] = [];
  const transaction = new NonInviteClientTransaction({
    request: options,
    data: options.toBuffer(),
    target: 'udp/127.0.0.1:5060',
    channel: { reliable, send: () => void times.push(timers.now()) },
    timers,
    values: DEFAULT_TIMER_VALUES,
    user: {
      response: ({ status }) => void told.push(String(status)),
      failed: ({ reason }) => void told.push(reason),
      terminated: () => void told.push('terminated'),
    },
  });
  transaction.start();
  const fire: Record<NonInviteClientEvent, () => void> = {
    provisional: () => transaction.receive(answer(182)),
    final: () => transaction.receive(answer(200)),
    timerE: () => timers.advance(500),
    timerF: () => timers.advance(32_000),
    timerK: () => timers.advance(5000),
    transportError: () => transaction.transportFailed(new SipTransportError('refused', 'udp/127.0.0.1:5060')),
  };
  return { timers, transaction, times, told, fire };
}

/** RFC 3261 figure 6. */
const TABLE: Record<
  NonInviteClientState,
  { path: NonInviteClientEvent[]; next: Partial<Record<NonInviteClientEvent, NonInviteClientState>> }
> = {
  trying: {
    path: [],
    next: {
      provisional: 'proceeding',
      final: 'completed',
      timerE: 'trying',
      timerF: 'terminated',
      transportError: 'terminated',
    },
  },
  proceeding: {
    path: ['provisional'],
    next: {
      provisional: 'proceeding',
      final: 'completed',
      timerE: 'proceeding',
      timerF: 'terminated',
      transportError: 'terminated',
    },
  },
  completed: {
    path: ['final'],
    next: { provisional: 'completed', final: 'completed', timerK: 'terminated', transportError: 'completed' },
  },
  terminated: {
    path: ['transportError'],
    next: { provisional: 'terminated', final: 'terminated', transportError: 'terminated' },
  },
};

describe('non-INVITE client transaction', () => {
  for (const [state, { path, next }] of Object.entries(TABLE)) {
    for (const [event, expected] of Object.entries(next)) {
      it(`${state}: ${event} leads to ${expected}`, () => {
        const { transaction, fire } = setUp();
        for (const step of path) fire[step]();
        expect(transaction.state).to.equal(state);
        fire[event as NonInviteClientEvent]();
        expect(transaction.state).to.equal(expected);
      });
    }
  }

  it('repeats with doubling intervals up to T2 and gives up at 32 s', () => {
    const { timers, times, told } = setUp();
    timers.advance(40_000);
    expect(times).to.deep.equal([0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]);
    expect(told).to.deep.equal(['timeout', 'terminated']);
    expect(timers.size).to.equal(0);
  });

  it('repeats every T2 after a provisional response', () => {
    const { timers, times, fire } = setUp();
    timers.advance(100);
    fire.provisional();
    timers.advance(10_000);
    expect(times).to.deep.equal([0, 500, 4500, 8500]);
  });

  it('reports the final response once, and absorbs its repetitions for T4', () => {
    const { timers, told, fire } = setUp();
    fire.final();
    fire.final();
    expect(told).to.deep.equal(['200']);
    timers.advance(5000);
    expect(told).to.deep.equal(['200', 'terminated']);
    expect(timers.size).to.equal(0);
  });

  it('neither repeats nor waits after its end over a reliable transport', () => {
    const { timers, times, told, fire } = setUp(true);
    timers.advance(20_000);
    expect(times).to.deep.equal([0]);
    fire.final();
    timers.advance(0);
    expect(told).to.deep.equal(['200', 'terminated']);
  });
});
