import path from 'node:path';
import { expect } from 'chai';
import { type OperationHandle, createOperations } from '../../../components/operation/index.ts';
import type { OperationResponse } from '../../../components/operation/response.ts';
import { components } from '../../../components/index.ts';
import { openScenarioLibrary } from '../../../runtime/interpreter/library.ts';
import { type CallScript, SimulatedCall } from '../../../runtime/interpreter/simulation/simulated-call.ts';
import { VirtualClock } from '../../../runtime/interpreter/simulation/virtual-clock.ts';
import { silentLog } from '../../interpreter/support.ts';

const service = path.resolve(import.meta.dirname, '../../../scenarios/service');
const library = openScenarioLibrary({ folders: [service], components, log: silentLog });

interface Outcome {
  readonly handle: OperationHandle;
  readonly call: SimulatedCall;
  readonly clock: VirtualClock;
  readonly response: OperationResponse;
  /** Virtual milliseconds until the response. */
  readonly answeredAfter: number;
}

async function invite(script: CallScript, mode: number, body: object = {}): Promise<Outcome> {
  const clock = new VirtualClock();
  const call = new SimulatedCall(clock, { ...script, direction: 'outgoing' });
  const scenarios = await library;
  const operations = createOperations({
    program: (id) => scenarios.program(id),
    openCall: () => call,
    log: silentLog,
    clock,
  });
  const handle = await operations.invite(
    { from: '101', to: '102', response_mode: mode, ...body },
    { domain: 'demo.local' },
  );
  let answeredAfter = -1;
  const response = handle.response.then((value) => {
    answeredAfter = clock.now();
    return value;
  });
  const answered = await clock.run(response);
  const { finished } = handle;
  await clock.run(finished);
  return { handle, call, clock, response: answered, answeredAfter };
}

const IVR = 'ivr@simulation';
const A = 'a@simulation';
const ok = { result: 'ok', ivrcallid: IVR } as const;
const rejected = { result: 'rejected', ivrcallid: IVR } as const;
const refusedByT = (line: string) => ({ result: 'rejected', ivrcallid: IVR, acallid: A, last_response: line }) as const;
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
      [rejected, 900],
      [rejected, 900],
      [rejected, 900],
      [rejected, 900],
    ],
  },
  {
    name: 'X refuses at once',
    script: { dialled: [{ after: 20, status: 603 }] },
    modes: [
      [ok, 0],
      [rejected, 20],
      [rejected, 20],
      [rejected, 20],
      [rejected, 20],
      [rejected, 20],
    ],
  },
  {
    name: 'X is unknown (404 of the server)',
    script: { dialled: [{ after: 5, status: 404, local: true }] },
    modes: [
      [ok, 0],
      [rejected, 5],
      [rejected, 5],
      [rejected, 5],
      [rejected, 5],
      [rejected, 5],
    ],
  },
  {
    name: 'X is not registered (480 of the server)',
    script: { dialled: [{ after: 5, status: 480, local: true }] },
    modes: [
      [ok, 0],
      [rejected, 5],
      [rejected, 5],
      [rejected, 5],
      [rejected, 5],
      [rejected, 5],
    ],
  },
  {
    name: 'X rings and nobody answers',
    script: { dialled: [{ after: 100, status: 180 }] },
    modes: [
      [ok, 0],
      [ok, 100],
      [rejected, 30_000],
      [rejected, 30_000],
      [rejected, 30_000],
      [rejected, 30_000],
    ],
  },
  {
    name: 'nothing comes from X at all',
    script: { dialled: [] },
    modes: [[ok, 0], ...[1, 2, 3, 4, 5].map(() => [{ result: 'error', ivrcallid: IVR }, 30_000] as const)],
  },
  {
    name: 'X cannot be reached (503 of the server)',
    script: { dialled: [{ after: 10, status: 503, local: true }] },
    modes: [[ok, 0], ...[1, 2, 3, 4, 5].map(() => [{ result: 'error', ivrcallid: IVR }, 10] as const)],
  },
  {
    name: 'X redirects',
    script: { dialled: [{ after: 10, status: 302 }] },
    modes: [[ok, 0], ...[1, 2, 3, 4, 5].map(() => [{ result: 'redirected', ivrcallid: IVR }, 10] as const)],
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
      });
    }
  }
});
