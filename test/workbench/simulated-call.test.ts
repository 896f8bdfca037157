import { expect } from 'chai';
import { CALL_STATES, type CallState } from '../../runtime/language/call-words.ts';
import { CallStateError } from '../../runtime/runs/call-port.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';

const DIAL = {
  to: '102',
  mode: 'number',
  callerNumber: '101',
  callerName: '',
  timeoutMs: 30_000,
  useIntercom: false,
} as const;

const OPERATIONS: Readonly<Record<string, (call: SimulatedCall) => unknown>> = {
  ring: (call) => call.ring(),
  answer: (call) => call.answer(),
  reject: (call) => call.reject(486),
  hangup: (call) => call.hangup(),
  play: (call) => call.play([], { signal: AbortSignal.abort() }),
  dial: (call) => call.dial(DIAL),
  takeOver: (call) => call.takeOver({ dialogid: 'dialog-1', side: 'a' }),
  refer: (call) => call.refer({ to: '103' }),
  join: (call) => call.join({ dialogid: 'dialog-1', side: 'a' }),
};

const ALLOWED: Readonly<Record<CallState, readonly string[]>> = {
  none: ['dial', 'takeOver', 'hangup'],
  incoming: ['ring', 'answer', 'reject', 'hangup', 'refer'],
  outgoing: ['hangup'],
  connected: ['answer', 'hangup', 'play', 'refer', 'join'],
  transferred: ['hangup'],
  ended: ['hangup'],
};

function callIn(state: CallState): SimulatedCall {
  const incoming = state === 'incoming' || state === 'ended';
  const idle = state === 'none' || state === 'outgoing';
  const direction = incoming ? 'incoming' : idle ? 'outgoing' : 'connected';
  const call = new SimulatedCall(new VirtualClock(), { direction });
  if (state === 'outgoing') call.dial(DIAL);
  if (state === 'transferred') call.refer({ to: '103' });
  if (state === 'ended') call.end('opponent', 'hung up');
  expect(call.state).to.equal(state);
  return call;
}

/** The state with which the call refuses an operation; undefined: it does not refuse it. */
async function refusal(call: SimulatedCall, operate: (call: SimulatedCall) => unknown): Promise<CallState | undefined> {
  try {
    await operate(call);
    return undefined;
  } catch (error) {
    return error instanceof CallStateError ? error.state : undefined;
  }
}

describe('simulated call', () => {
  for (const state of CALL_STATES) {
    for (const [operation, operate] of Object.entries(OPERATIONS)) {
      const allowed = ALLOWED[state].includes(operation);
      it(`${allowed ? 'allows' : 'refuses'} ${operation} while ${state}`, async () => {
        expect(await refusal(callIn(state), operate)).to.equal(allowed ? undefined : state);
      });
    }
  }

  it('is over after a hang-up without a call, and cannot be placed then', async () => {
    const call = new SimulatedCall(new VirtualClock(), { direction: 'outgoing' });
    await call.hangup();
    expect(call.endSignal.reason).to.deep.equal({ by: 'scenario', reason: 'hangup' });
    expect(await refusal(call, OPERATIONS['dial'] as never)).to.equal('ended');
  });

  it('keeps the first end when it is hung up again', async () => {
    const call = callIn('ended');
    await call.hangup();
    expect(call.endSignal.reason).to.deep.equal({ by: 'opponent', reason: 'hung up' });
  });

  it('refuses an incoming call by a hang-up before the answer', async () => {
    const call = callIn('incoming');
    await call.hangup();
    expect(call.events.map(({ what }) => what)).to.include('reject 480 Temporarily Unavailable');
  });

  it('returns to its opponent after a transfer that fails', async () => {
    const clock = new VirtualClock();
    const call = new SimulatedCall(clock, { direction: 'connected', target: [{ after: 0, status: 486 }] });
    const { status } = await clock.run(call.refer({ to: '103' }).final);
    expect([status, call.state]).to.deep.equal([486, 'connected']);
  });

  it('is over after a transfer that succeeds', async () => {
    const clock = new VirtualClock();
    const call = new SimulatedCall(clock, { direction: 'connected' });
    await clock.run(call.refer({ to: '103' }).final);
    expect(call.state).to.equal('ended');
  });
});
