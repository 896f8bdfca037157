import { expect } from 'chai';
import {
  type InviteServerEvent,
  type InviteServerState,
  InviteServerTransaction,
} from '../../../runtime/embedded/stack/invite-server.ts';
import {
  type NonInviteServerEvent,
  type NonInviteServerState,
  NonInviteServerTransaction,
} from '../../../runtime/embedded/stack/non-invite-server.ts';
import { SuccessRetransmission } from '../../../runtime/embedded/stack/success-retransmission.ts';
import { DEFAULT_TIMER_VALUES } from '../../../runtime/embedded/stack/timers.ts';
import { ManualTimers } from './manual-timers.ts';

function setUpInvite(reliable = false) {
  const timers = new ManualTimers();
  const sent: string[] = [];
  const times: number[] = [];
  const told: string[] = [];
  const transaction = new InviteServerTransaction(
    {
      reliable,
      send: (data) => {
        sent.push(data.toString());
        times.push(timers.now());
      },
    },
    timers,
    DEFAULT_TIMER_VALUES,
    { ackMissing: () => void told.push('ackMissing'), terminated: () => void told.push('terminated') },
  );
  const fire: Record<InviteServerEvent, () => void> = {
    request: () => transaction.receiveRetransmission(),
    ack: () => transaction.receiveAck(),
    sendProvisional: () => void transaction.send(180, Buffer.from('180')),
    sendSuccess: () => void transaction.send(200, Buffer.from('200')),
    sendFailure: () => void transaction.send(486, Buffer.from('486')),
    timerG: () => timers.advance(500),
    timerH: () => timers.advance(32_000),
    timerI: () => timers.advance(5000),
    timerL: () => timers.advance(32_000),
  };
  return { timers, transaction, sent, times, told, fire };
}

/** RFC 3261 figure 7, RFC 6026 figure 2. */
const INVITE_TABLE: Record<
  InviteServerState,
  { path: InviteServerEvent[]; next: Partial<Record<InviteServerEvent, InviteServerState>> }
> = {
  proceeding: {
    path: [],
    next: {
      request: 'proceeding',
      ack: 'proceeding',
      sendProvisional: 'proceeding',
      sendSuccess: 'accepted',
      sendFailure: 'completed',
    },
  },
  accepted: {
    path: ['sendSuccess'],
    next: {
      request: 'accepted',
      ack: 'accepted',
      sendProvisional: 'accepted',
      sendSuccess: 'accepted',
      sendFailure: 'accepted',
      timerL: 'terminated',
    },
  },
  completed: {
    path: ['sendFailure'],
    next: {
      request: 'completed',
      ack: 'confirmed',
      sendProvisional: 'completed',
      sendSuccess: 'completed',
      sendFailure: 'completed',
      timerG: 'completed',
      timerH: 'terminated',
    },
  },
  confirmed: {
    path: ['sendFailure', 'ack'],
    next: { request: 'confirmed', ack: 'confirmed', sendSuccess: 'confirmed', timerI: 'terminated' },
  },
  terminated: {
    path: ['sendSuccess', 'timerL'],
    next: { request: 'terminated', ack: 'terminated', sendSuccess: 'terminated' },
  },
};

describe('INVITE server transaction', () => {
  for (const [state, { path, next }] of Object.entries(INVITE_TABLE)) {
    for (const [event, expected] of Object.entries(next)) {
      it(`${state}: ${event} leads to ${expected}`, () => {
        const { transaction, fire } = setUpInvite();
        for (const step of path) fire[step]();
        expect(transaction.state).to.equal(state);
        fire[event as InviteServerEvent]();
        expect(transaction.state).to.equal(expected);
      });
    }
  }

  it('answers a repeated INVITE with its last response', () => {
    const { sent, fire } = setUpInvite();
    fire.request();
    fire.sendProvisional();
    fire.request();
    fire.sendFailure();
    fire.request();
    expect(sent).to.deep.equal(['180', '180', '486', '486']);
  });

  it('repeats a failure until its ACK, doubling up to T2, and reports a missing ACK at 32 s', () => {
    const { times, told, fire, timers } = setUpInvite();
    fire.sendFailure();
    timers.advance(40_000);
    expect(times).to.deep.equal([0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]);
    expect(told).to.deep.equal(['ackMissing', 'terminated']);
    expect(timers.size).to.equal(0);
  });

  it('is silent after the ACK', () => {
    const { sent, told, fire, timers } = setUpInvite();
    fire.sendFailure();
    fire.ack();
    fire.request();
    timers.advance(5000);
    expect(sent).to.deep.equal(['486']);
    expect(told).to.deep.equal(['terminated']);
  });

  it('does not repeat a failure over a reliable transport but still waits for its ACK', () => {
    const { times, told, fire, timers } = setUpInvite(true);
    fire.sendFailure();
    timers.advance(40_000);
    expect(times).to.deep.equal([0]);
    expect(told).to.deep.equal(['ackMissing', 'terminated']);
  });

  it('absorbs the INVITE after a 2xx, whose repetition is up to its user', () => {
    const { sent, fire, transaction } = setUpInvite();
    fire.sendSuccess();
    fire.request();
    expect(sent).to.deep.equal(['200']);
    expect(transaction.send(486, Buffer.from('486'))).to.equal(false);
  });
});

function setUpNonInvite(reliable = false) {
  const timers = new ManualTimers();
  const sent: string[] = [];
  const told: string[] = [];
  const transaction = new NonInviteServerTransaction(
    { reliable, send: (data) => void sent.push(data.toString()) },
    timers,
    DEFAULT_TIMER_VALUES,
    { terminated: () => void told.push('terminated') },
  );
  const fire: Record<NonInviteServerEvent, () => void> = {
    request: () => transaction.receiveRetransmission(),
    sendProvisional: () => void transaction.send(182, Buffer.from('182')),
    sendFinal: () => void transaction.send(200, Buffer.from('200')),
    timerJ: () => timers.advance(32_000),
    abandoned: () => timers.advance(32_000),
  };
  return { timers, transaction, sent, told, fire };
}

/** RFC 3261 figure 8, and the time-out when no answer is ever sent. */
const NON_INVITE_TABLE: Record<
  NonInviteServerState,
  { path: NonInviteServerEvent[]; next: Partial<Record<NonInviteServerEvent, NonInviteServerState>> }
> = {
  trying: {
    path: [],
    next: { request: 'trying', sendProvisional: 'proceeding', sendFinal: 'completed', abandoned: 'terminated' },
  },
  proceeding: {
    path: ['sendProvisional'],
    next: { request: 'proceeding', sendProvisional: 'proceeding', sendFinal: 'completed', abandoned: 'terminated' },
  },
  completed: {
    path: ['sendFinal'],
    next: { request: 'completed', sendProvisional: 'completed', sendFinal: 'completed', timerJ: 'terminated' },
  },
  terminated: { path: ['sendFinal', 'timerJ'], next: { request: 'terminated', sendFinal: 'terminated' } },
};

describe('non-INVITE server transaction', () => {
  for (const [state, { path, next }] of Object.entries(NON_INVITE_TABLE)) {
    for (const [event, expected] of Object.entries(next)) {
      it(`${state}: ${event} leads to ${expected}`, () => {
        const { transaction, fire } = setUpNonInvite();
        for (const step of path) fire[step]();
        expect(transaction.state).to.equal(state);
        fire[event as NonInviteServerEvent]();
        expect(transaction.state).to.equal(expected);
      });
    }
  }

  it('absorbs repetitions until there is a response, then answers each', () => {
    const { sent, fire } = setUpNonInvite();
    fire.request();
    fire.sendProvisional();
    fire.request();
    fire.sendFinal();
    fire.request();
    expect(sent).to.deep.equal(['182', '182', '200', '200']);
  });

  it('ends at once over a reliable transport', () => {
    const { told, fire, timers } = setUpNonInvite(true);
    fire.sendFinal();
    timers.advance(0);
    expect(told).to.deep.equal(['terminated']);
    expect(timers.size).to.equal(0);
  });
});

describe('retransmission of a 2xx', () => {
  it('doubles up to T2 and reports a missing ACK at 32 s', () => {
    const timers = new ManualTimers();
    const times: number[] = [];
    let missing = 0;
    const retransmission = new SuccessRetransmission(
      timers,
      DEFAULT_TIMER_VALUES,
      () => void times.push(timers.now()),
      () => {
        missing = timers.now();
      },
    );
    timers.advance(60_000);
    retransmission.stop();
    expect(times).to.deep.equal([500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]);
    expect(missing).to.equal(32_000);
    expect(timers.size).to.equal(0);
  });

  it('stops at the ACK', () => {
    const timers = new ManualTimers();
    let sent = 0;
    const retransmission = new SuccessRetransmission(
      timers,
      DEFAULT_TIMER_VALUES,
      () => (sent += 1),
      () => (sent += 100),
    );
    timers.advance(600);
    retransmission.stop();
    timers.advance(60_000);
    expect(sent).to.equal(1);
    expect(timers.size).to.equal(0);
  });
});
