import { expect } from 'chai';
import { SipTransportError } from '../../../runtime/embedded/stack/errors.ts';
import {
  type InviteClientEvent,
  type InviteClientState,
  InviteClientTransaction,
} from '../../../runtime/embedded/stack/invite-client.ts';
import { ackForFailure } from '../../../runtime/embedded/stack/responses.ts';
import { DEFAULT_TIMER_VALUES } from '../../../runtime/embedded/stack/timers.ts';
import { ManualTimers } from './manual-timers.ts';
import { answer, INVITE, request } from './messages.ts';

function setUp(reliable = false) {
  const timers = new ManualTimers();
  const invite = request(INVITE);
  const sent: string[] = [];
  const told: string[] = [];
  const transaction = new InviteClientTransaction(
    {
      request: invite,
      data: invite.toBuffer(),
      target: 'udp/127.0.0.1:5060',
      channel: { reliable, send: (data) => void sent.push(data.toString().split(' ')[0] ?? '') },
      timers,
      values: DEFAULT_TIMER_VALUES,
      user: {
        response: ({ status }) => void told.push(String(status)),
        failed: ({ reason }) => void told.push(reason),
        terminated: () => void told.push('terminated'),
      },
    },
    (response) => ackForFailure(invite, response).toBuffer(),
  );
  transaction.start();
  const fire: Record<InviteClientEvent, () => void> = {
    provisional: () => transaction.receive(answer(180)),
    success: () => transaction.receive(answer(200)),
    failure: () => transaction.receive(answer(486)),
    timerA: () => timers.advance(500),
    timerB: () => timers.advance(32_000),
    timerD: () => timers.advance(32_000),
    timerM: () => timers.advance(32_000),
    transportError: () => transaction.transportFailed(new SipTransportError('refused', 'udp/127.0.0.1:5060')),
  };
  return { timers, transaction, sent, told, fire };
}

/** The path to each state, and the next state for each event: RFC 3261 figure 5, RFC 6026 figure 3. */
const TABLE: Record<
  InviteClientState,
  { path: InviteClientEvent[]; next: Partial<Record<InviteClientEvent, InviteClientState>> }
> = {
  calling: {
    path: [],
    next: {
      provisional: 'proceeding',
      success: 'accepted',
      failure: 'completed',
      timerA: 'calling',
      timerB: 'terminated',
      transportError: 'terminated',
    },
  },
  proceeding: {
    path: ['provisional'],
    next: {
      provisional: 'proceeding',
      success: 'accepted',
      failure: 'completed',
      timerA: 'proceeding',
      timerB: 'proceeding',
      transportError: 'terminated',
    },
  },
  completed: {
    path: ['failure'],
    next: {
      provisional: 'completed',
      success: 'completed',
      failure: 'completed',
      timerD: 'terminated',
      transportError: 'terminated',
    },
  },
  accepted: {
    path: ['success'],
    next: {
      provisional: 'accepted',
      success: 'accepted',
      failure: 'accepted',
      timerM: 'terminated',
      transportError: 'accepted',
    },
  },
  terminated: {
    path: ['transportError'],
    next: { provisional: 'terminated', success: 'terminated', failure: 'terminated', transportError: 'terminated' },
  },
};

describe('INVITE client transaction', () => {
  for (const [state, { path, next }] of Object.entries(TABLE)) {
    for (const [event, expected] of Object.entries(next)) {
      it(`${state}: ${event} leads to ${expected}`, () => {
        const { transaction, fire } = setUp();
        for (const step of path) fire[step]();
        expect(transaction.state).to.equal(state);
        fire[event as InviteClientEvent]();
        expect(transaction.state).to.equal(expected);
      });
    }
  }

  it('repeats the INVITE at 0.5, 1.5, 3.5, 7.5, 15.5, 31.5 s and gives up at 32 s', () => {
    const { timers, sent, told } = setUp();
    const times: number[] = [];
    for (let t = 0; t < 40_000; t += 100) {
      const before = sent.length;
      timers.advance(100);
      if (sent.length > before) times.push(timers.now());
    }
    expect(times).to.deep.equal([500, 1500, 3500, 7500, 15_500, 31_500]);
    expect(told).to.deep.equal(['timeout', 'terminated']);
    expect(timers.size).to.equal(0);
  });

  it('does not repeat over a reliable transport', () => {
    const { timers, sent, told } = setUp(true);
    timers.advance(40_000);
    expect(sent).to.deep.equal(['INVITE']);
    expect(told).to.deep.equal(['timeout', 'terminated']);
  });

  it('stops repeating at the first provisional response, and then waits without limit', () => {
    const { timers, sent, fire, transaction } = setUp();
    fire.provisional();
    timers.advance(3_600_000);
    expect(sent).to.deep.equal(['INVITE']);
    expect(transaction.state).to.equal('proceeding');
    expect(timers.size).to.equal(0);
  });

  it('acknowledges a failure at each repetition, and reports it once', () => {
    const { sent, told, fire, timers } = setUp();
    fire.failure();
    fire.failure();
    expect(sent).to.deep.equal(['INVITE', 'ACK', 'ACK']);
    expect(told).to.deep.equal(['486']);
    timers.advance(32_000);
    expect(told).to.deep.equal(['486', 'terminated']);
    expect(timers.size).to.equal(0);
  });

  it('ends immediately after a failure over a reliable transport (timer D is 0)', () => {
    const { told, fire, timers } = setUp(true);
    fire.failure();
    timers.advance(0);
    expect(told).to.deep.equal(['486', 'terminated']);
  });

  it('reports every 2xx and never acknowledges it', () => {
    const { sent, told, fire, timers } = setUp();
    fire.success();
    fire.success();
    expect(told).to.deep.equal(['200', '200']);
    expect(sent).to.deep.equal(['INVITE']);
    timers.advance(32_000);
    expect(told.at(-1)).to.equal('terminated');
  });

  it('ends 64*T1 after a CANCEL without a final response', () => {
    const { told, fire, timers, transaction } = setUp();
    fire.provisional();
    transaction.expectFinal();
    timers.advance(31_999);
    expect(told).to.deep.equal(['180']);
    timers.advance(1);
    expect(told).to.deep.equal(['180', 'timeout', 'terminated']);
  });
});
