import { asDomainName } from '../../runtime/domain-name/index.ts';
import { services } from '../support/scenarios.ts';
import type { Transfer } from '../../runtime/runs/call-values.ts';
import type { OutgoingCall } from '../../runtime/runs/call-values.ts';
import path from 'node:path';
import { expect } from 'chai';
import {
  MissingScenarioError,
  type OperationHandle,
  type Operations,
  createOperations,
} from '../../runtime/operations/index.ts';
import type { OperationResponse } from '../../runtime/operations/answer/response.ts';
import { components } from '../../runtime/component-registry/index.ts';
import type { DialOptions, ReferOptions } from '../../runtime/runs/call-port.ts';
import { openScenarioLibrary } from '../../runtime/runs/library.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { silentLog } from '../support/log.ts';
import { MemoryDialogs, NO_CONFERENCES, NO_CALLS, NO_DIRECTORY, NO_ROOMS } from './support.ts';

const service = path.resolve(import.meta.dirname, '../../scenarios/service');
const library = openScenarioLibrary({ folders: [service], components, log: silentLog });

interface Outcome {
  readonly handle: OperationHandle;
  readonly call: SimulatedCall;
  readonly operations: Operations;
  readonly response: OperationResponse;
  /** Virtual milliseconds until the response. */
  readonly answeredAfter: number;
}

async function operationsFor(call: SimulatedCall, clock: VirtualClock): Promise<Operations> {
  const scenarios = await library;
  return createOperations({
    program: (id) => scenarios.program(id),
    openCall: () => call,
    log: silentLog,
    clock,
    runServices: services({}, clock),
    calls: NO_CALLS,
    conferences: NO_CONFERENCES,
    rooms: NO_ROOMS,
    dialogs: new MemoryDialogs(),
    directory: NO_DIRECTORY,
    scenario: () => Promise.resolve(undefined),
  });
}

/** Starts the operation; there always is a scenario. */
async function start(operations: Operations, parameters: object): Promise<OperationHandle> {
  const { handle } = await operations.start('invite', { scope: { domain: asDomainName('demo.local') }, parameters });
  return handle as OperationHandle;
}

async function invite(script: CallScript, mode: number, body: object = {}): Promise<Outcome> {
  const clock = new VirtualClock();
  const call = new SimulatedCall(clock, { ...script, direction: 'outgoing' });
  const operations = await operationsFor(call, clock);
  const handle = await start(operations, { from: '101', to: '102', response_mode: mode, ...body });
  let answeredAfter = -1;
  const response = handle.response.then((value) => {
    answeredAfter = clock.now();
    return value;
  });
  const answered = (await clock.run(response)) as unknown as OperationResponse;
  const { finished } = handle;
  await clock.run(finished);
  return { handle, call, operations, response: answered, answeredAfter };
}

const IVR = 'ivr@simulation';
const A = 'a@simulation';
const ok = { result: 'ok', ivrcallid: IVR } as const;
const failed = (result: 'rejected' | 'redirected' | 'error', status: number, reason: string) =>
  ({ result, ivrcallid: IVR, sip_status: status, reason }) as const;
const refusedByT = (line: string) => {
  const [, status = '', reason = ''] = /^SIP\/2\.0 (\d+) (.*)/.exec(line) ?? [];
  return { ...failed('rejected', Number(status), reason), acallid: A, last_response: line } as const;
};
const target = (line: string) =>
  ({ result: 'ok', ivrcallid: IVR, acallid: A, last_response: line, dialogid: 'dialog-2' }) as const;
const RINGING = 'SIP/2.0 180 Ringing';
const OK = 'SIP/2.0 200 OK';

const xAnswers = [
  { after: 100, status: 180 },
  { after: 1000, status: 200 },
];

/** What each mode answers, and when (virtual milliseconds after the request). */
const TABLE: readonly {
  readonly name: string;
  readonly script: CallScript;
  readonly modes: readonly (readonly [OperationResponse, number])[];
}[] = [
  {
    name: 'both answer',
    script: {
      dialled: xAnswers,
      target: [
        { after: 50, status: 180 },
        { after: 2000, status: 200 },
      ],
    },
    modes: [
      [ok, 0],
      [ok, 100],
      [ok, 1000],
      [target(RINGING), 1050],
      [target(OK), 3000],
      [target(OK), 3000],
    ],
  },
  {
    name: 'Y answers without ringing',
    script: { dialled: xAnswers, target: [{ after: 500, status: 200 }] },
    modes: [
      [ok, 0],
      [ok, 100],
      [ok, 1000],
      [target(OK), 1500],
      [target(OK), 1500],
      [target(OK), 1500],
    ],
  },
  {
    name: 'X answers without ringing',
    script: {
      dialled: [{ after: 300, status: 200 }],
      target: [
        { after: 50, status: 180 },
        { after: 2000, status: 200 },
      ],
    },
    modes: [
      [ok, 0],
      [ok, 300],
      [ok, 300],
      [target(RINGING), 350],
      [target(OK), 2300],
      [target(OK), 2300],
    ],
  },
  {
    name: 'X refuses after ringing',
    script: {
      dialled: [
        { after: 100, status: 180 },
        { after: 900, status: 486 },
      ],
    },
    modes: [
      [ok, 0],
      [ok, 100],
      [failed('rejected', 486, 'Busy Here'), 900],
      [failed('rejected', 486, 'Busy Here'), 900],
      [failed('rejected', 486, 'Busy Here'), 900],
      [failed('rejected', 486, 'Busy Here'), 900],
    ],
  },
  {
    name: 'X refuses at once',
    script: { dialled: [{ after: 20, status: 603 }] },
    modes: [
      [ok, 0],
      [failed('rejected', 603, 'Decline'), 20],
      [failed('rejected', 603, 'Decline'), 20],
      [failed('rejected', 603, 'Decline'), 20],
      [failed('rejected', 603, 'Decline'), 20],
      [failed('rejected', 603, 'Decline'), 20],
    ],
  },
  {
    name: 'X is unknown (404 of the server)',
    script: { dialled: [{ after: 5, status: 404, local: true }] },
    modes: [
      [ok, 0],
      [failed('rejected', 404, 'Not Found'), 5],
      [failed('rejected', 404, 'Not Found'), 5],
      [failed('rejected', 404, 'Not Found'), 5],
      [failed('rejected', 404, 'Not Found'), 5],
      [failed('rejected', 404, 'Not Found'), 5],
    ],
  },
  {
    name: 'X is not registered (480 of the server)',
    script: { dialled: [{ after: 5, status: 480, local: true }] },
    modes: [
      [ok, 0],
      [failed('rejected', 480, 'Temporarily Unavailable'), 5],
      [failed('rejected', 480, 'Temporarily Unavailable'), 5],
      [failed('rejected', 480, 'Temporarily Unavailable'), 5],
      [failed('rejected', 480, 'Temporarily Unavailable'), 5],
      [failed('rejected', 480, 'Temporarily Unavailable'), 5],
    ],
  },
  {
    name: 'X rings and nobody answers',
    script: { dialled: [{ after: 100, status: 180 }] },
    modes: [
      [ok, 0],
      [ok, 100],
      [failed('rejected', 408, 'Request Timeout'), 30_000],
      [failed('rejected', 408, 'Request Timeout'), 30_000],
      [failed('rejected', 408, 'Request Timeout'), 30_000],
      [failed('rejected', 408, 'Request Timeout'), 30_000],
    ],
  },
  {
    name: 'nothing comes from X at all',
    script: { dialled: [] },
    modes: [[ok, 0], ...[1, 2, 3, 4, 5].map(() => [failed('error', 408, 'Request Timeout'), 30_000] as const)],
  },
  {
    name: 'X cannot be reached (503 of the server)',
    script: { dialled: [{ after: 10, status: 503, local: true }] },
    modes: [[ok, 0], ...[1, 2, 3, 4, 5].map(() => [failed('error', 503, 'Service Unavailable'), 10] as const)],
  },
  {
    name: 'X redirects',
    script: { dialled: [{ after: 10, status: 302 }] },
    modes: [[ok, 0], ...[1, 2, 3, 4, 5].map(() => [failed('redirected', 302, 'Moved Temporarily'), 10] as const)],
  },
  {
    name: 'Y refuses after ringing',
    script: {
      dialled: xAnswers,
      target: [
        { after: 50, status: 180 },
        { after: 700, status: 486 },
      ],
    },
    modes: [
      [ok, 0],
      [ok, 100],
      [ok, 1000],
      [target(RINGING), 1050],
      [refusedByT('SIP/2.0 486 Busy Here'), 1700],
      [refusedByT('SIP/2.0 486 Busy Here'), 1700],
    ],
  },
  {
    name: 'Y refuses at once',
    script: { dialled: xAnswers, target: [{ after: 50, status: 404, local: true }] },
    modes: [
      [ok, 0],
      [ok, 100],
      [ok, 1000],
      ...[3, 4, 5].map(() => [refusedByT('SIP/2.0 404 Not Found'), 1050] as const),
    ],
  },
  {
    name: 'Y rings and nobody answers',
    script: { dialled: xAnswers, target: [{ after: 50, status: 180 }] },
    modes: [
      [ok, 0],
      [ok, 100],
      [ok, 1000],
      [target(RINGING), 1050],
      ...[4, 5].map(() => [refusedByT('SIP/2.0 408 Request Timeout'), 31_000] as const),
    ],
  },
  {
    name: 'nothing comes from Y at all',
    script: { dialled: xAnswers, target: [] },
    modes: [
      [ok, 0],
      [ok, 100],
      [ok, 1000],
      ...[3, 4, 5].map(() => [refusedByT('SIP/2.0 408 Request Timeout'), 31_000] as const),
    ],
  },
  {
    name: 'X hangs up while Y rings',
    script: { dialled: xAnswers, target: [{ after: 50, status: 180 }], hangsUpInTransferAfter: 800 },
    modes: [
      [ok, 0],
      [ok, 100],
      [ok, 1000],
      [target(RINGING), 1050],
      ...[4, 5].map(() => [refusedByT('SIP/2.0 487 Request Terminated'), 1800] as const),
    ],
  },
];

describe('POST and INVITE /uc/calls', () => {
  for (const { name, script, modes } of TABLE) {
    for (const [mode, [response, after]] of modes.entries()) {
      it(`mode ${mode}, ${name}: ${response.result}`, async () => {
        const outcome = await invite(script, mode);
        expect(outcome.response).to.deep.equal(response);
        expect(outcome.answeredAfter).to.equal(after);
        expect(outcome.call.state).to.equal('ended');
        expect(outcome.operations.running).to.equal(0);
        const [last] = modes.at(-1) ?? [];
        const record = outcome.operations.read({ domain: asDomainName('demo.local') }, outcome.handle.id);
        expect(record?.fields, 'what the last mode answers').to.deep.equal(last);
        expect(record?.result).to.equal(last?.result);
      });
    }
  }

  it('hangs up X when Y refuses', async () => {
    const { call, handle } = await invite({ dialled: xAnswers, target: [{ after: 50, status: 486 }] }, 4);
    expect(call.events.map(({ at, what }) => `${at} ${what}`)).to.deep.equal([
      '0 dial 101',
      '1000 refer 102',
      '1050 hangup',
      '1050 ended by scenario: hangup',
    ]);
    expect(handle.run.trace.map(({ block, exit }) => `${block} ${exit}`)).to.deep.equal([
      'call_x answered',
      'transfer_x busy',
      'release_x next',
      'done next',
    ]);
  });

  it('ends everything when X hangs up while Y rings', async () => {
    const { call, handle } = await invite(
      { dialled: xAnswers, target: [{ after: 50, status: 180 }], hangsUpInTransferAfter: 800 },
      3,
    );
    expect(call.events.at(-1)).to.deep.equal({ at: 1800, what: 'ended by opponent: hung up' });
    expect((await handle.finished).status).to.equal('ended');
    expect(handle.run.trace.map(({ block }) => block)).to.deep.equal(['call_x', 'transfer_x', 'done']);
  });

  it('ends everything when the call to X is ended by DELETE', async () => {
    const clock = new VirtualClock();
    const call = new SimulatedCall(clock, { direction: 'outgoing', dialled: [{ after: 100, status: 180 }] });
    const operations = await operationsFor(call, clock);
    const handle = await start(operations, { from: '101', to: '102' });
    void clock.sleep(500, new AbortController().signal).then(() => call.end('external', 'DELETE'));
    expect(await clock.run(handle.response)).to.deep.equal(failed('rejected', 487, 'Request Terminated'));
    expect((await clock.run(handle.finished)).status).to.equal('ended');
  });

  it('dials with the parameters of the request and the defaults of the specification', async () => {
    const dialled: DialOptions[] = [];
    const referred: ReferOptions[] = [];
    class Listening extends SimulatedCall {
      override dial(options: DialOptions): OutgoingCall {
        dialled.push(options);
        return super.dial(options);
      }
      override refer(options: ReferOptions): Transfer {
        referred.push(options);
        return super.refer(options);
      }
    }
    const bodies = [
      { from: '101', to: "102'1,2" },
      {
        mode: 'sipuser',
        from: 'alice',
        to: '102',
        callerid: '900',
        callername: 'Äönne & Co',
        calltimeout: 5,
        binding: 'PCS:1',
        use_intercom: true,
      },
    ];
    for (const body of bodies) {
      const clock = new VirtualClock();
      const operations = await operationsFor(new Listening(clock, { direction: 'outgoing' }), clock);
      const { finished } = await start(operations, body);
      await clock.run(finished);
    }
    expect(dialled).to.deep.equal([
      {
        to: '101',
        mode: 'number',
        callerNumber: '101',
        callerName: 'callmanager',
        timeoutMs: 30_000,
        useIntercom: false,
        headers: {},
        dtmfProto: 'rfc2833',
      },
      {
        to: 'alice',
        mode: 'sipuser',
        callerNumber: '900',
        callerName: 'Äönne & Co',
        timeoutMs: 5000,
        useIntercom: true,
        binding: 'PCS:1',
        headers: {},
        dtmfProto: 'rfc2833',
      },
    ]);
    expect(referred).to.deep.equal([
      { to: "102'1,2", ringback: true, timeoutMs: 30_000 },
      { to: '102', ringback: true, timeoutMs: 30_000, binding: 'PCS:1' },
    ]);
  });

  it('answers an error when the internal scenario fails', async () => {
    const clock = new VirtualClock();
    const call = new SimulatedCall(clock, { direction: 'incoming' });
    const operations = await operationsFor(call, clock);
    const { response } = await start(operations, { from: '101', to: '102', response_mode: 0 });
    expect(await clock.run(response)).to.deep.equal({ result: 'error', ivrcallid: IVR });
  });

  it('keeps a record with milestones and their times', async () => {
    const { handle, operations } = await invite(
      {
        dialled: xAnswers,
        target: [
          { after: 50, status: 180 },
          { after: 700, status: 486 },
        ],
      },
      3,
    );
    expect(operations.read({ domain: asDomainName('demo.local') }, handle.id)).to.deep.equal({
      id: handle.id,
      domain: 'demo.local',
      operation: 'invite',
      response_mode: 3,
      startts: 0,
      endts: 1700,
      milestones: [
        { milestone: 'F initiated', ts: 0, callid: IVR, dialogid: 'dialog-1' },
        { milestone: 'F provisional', ts: 100, callid: IVR, dialogid: 'dialog-1', last_response: RINGING },
        { milestone: 'F final', ts: 1000, callid: IVR, dialogid: 'dialog-1', last_response: OK },
        { milestone: 'T initiated', ts: 1000, callid: A, dialogid: 'dialog-2' },
        { milestone: 'T provisional', ts: 1050, callid: A, dialogid: 'dialog-2', last_response: RINGING },
        { milestone: 'T final', ts: 1700, callid: A, dialogid: 'dialog-2', last_response: 'SIP/2.0 486 Busy Here' },
        { milestone: 'finished', ts: 1700 },
      ],
      response: target(RINGING),
      responsets: 1050,
      outcome: 'completed',
      result: 'rejected',
      fields: refusedByT('SIP/2.0 486 Busy Here'),
    });
    expect(operations.read({ domain: asDomainName('other.local') }, handle.id)).to.equal(undefined);
  });

  it('calls no one when the internal scenario is missing', async () => {
    const operations = createOperations({
      program: () => Promise.resolve(undefined),
      openCall: () => {
        throw new Error('a call was opened');
      },
      log: silentLog,
      runServices: services(),
      calls: NO_CALLS,
      conferences: NO_CONFERENCES,
      rooms: NO_ROOMS,
      dialogs: new MemoryDialogs(),
      directory: NO_DIRECTORY,
      scenario: () => Promise.resolve(undefined),
    });
    const error = await start(operations, { from: '1', to: '2' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(MissingScenarioError);
  });
});
