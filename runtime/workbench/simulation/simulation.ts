/** Runs scenarios against a scripted caller on a virtual clock. */
import path from 'node:path';
import type { Sandbox } from '../../sandbox/index.ts';
import {
  type CallPort,
  type ComponentRegistry,
  MemoryQueues,
  type Run,
  type RunOutcome,
  Sensitive,
  SILENT,
  startRun,
} from '../../runs/index.ts';
import { type Program, runsScripts, type Value } from '../../language/index.ts';
import { type CallEvent, type CallNames, type CallScript, SIMULATED_DOMAIN } from './call-script.ts';
import { type EventsByStep, Happenings } from './happenings.ts';
import { Phones } from './phones.ts';
import { SimulatedCall } from './simulated-call.ts';
import { type Fixtures, type SelectEntities, type SimulatedClasses, SimulatedModel } from './simulated-model.ts';
import { SimulatedRecordings } from './simulated-recordings.ts';
import { TEST_TIME } from '../tests/test-time.ts';
import { type FindScenario, simulatedServices } from './services.ts';
import { type SimulatedAgent, simulatedAgents } from './simulated-agents.ts';
import { type SimulatedMessage, simulatedVoicemail } from './simulated-voicemail.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface SimulationOptions {
  readonly script: Omit<CallScript, 'onEvent'>;
  readonly args?: Readonly<Record<string, Value>>;
  /** Start values of variables, in place of the declared ones. */
  readonly variables?: Readonly<Record<string, Value>>;
  /** Start time, milliseconds since the epoch; default: `TEST_TIME`. */
  readonly at?: number;
  readonly components: ComponentRegistry;
  /** Opens the sandbox, for scenarios with scripts; without it a script is an error. */
  readonly openSandbox?: (() => Promise<Sandbox>) | undefined;
  /** Scripts wait for a debugger. */
  readonly debug?: boolean;
  /** Answers of HTTP requests: see `simulatedServices`. */
  readonly http?: Readonly<Record<string, Value>>;
  /** Answers of call operations, by their names. */
  readonly operations?: Readonly<Record<string, Value>>;
  /** Initial entities of the data model. */
  readonly model?: Fixtures;
  /** Earlier callers by queue: milliseconds after which each of them leaves it. */
  readonly queues?: Readonly<Record<string, readonly number[]>>;
  /** Agents of queues, by number. */
  readonly agents?: Readonly<Record<string, SimulatedAgent>>;
  /** Messages in mailboxes, the oldest first. */
  readonly mailboxes?: Readonly<Record<string, readonly SimulatedMessage[]>>;
  /** Evaluates filters of the data model; default: equal properties only. */
  readonly select?: SelectEntities | undefined;
  /** The classes of the domain; default: every class exists, and has any properties. */
  readonly classes?: SimulatedClasses | undefined;
  /** Finds other scenarios by their id; default: those in the folder of the program. */
  readonly scenarios?: FindScenario | undefined;
}

/** The result of a simulation. */
export interface Simulation {
  readonly run: Run;
  readonly call: SimulatedCall;
  readonly outcome: RunOutcome;
  /** Events of the call, by step. */
  readonly events: EventsByStep;
  /** The same by run, with those started by it. */
  readonly happenings: Happenings;
  /** The data model after the run. */
  readonly model: SimulatedModel;
}

/**
 * Runs a scenario to its end on a virtual clock, without SIP. A scenario with required parameters starts without a call, to
 * place one; so does one with an outgoing call in its script.
 * @throws ArgumentError
 */
export async function simulate(
  program: Program,
  {
    script,
    args = {},
    variables = {},
    at = TEST_TIME,
    components,
    http = {},
    operations = {},
    model: fixtures,
    queues = {},
    agents = {},
    mailboxes = {},
    select,
    classes,
    scenarios,
    openSandbox,
    debug = false,
  }: SimulationOptions,
): Promise<Simulation> {
  const clock = new VirtualClock(at);
  const happenings = new Happenings(components);
  const recordings = new SimulatedRecordings(fixtures);
  const onSaid = recordings.said.bind(recordings);
  const sensitive = new Sensitive();
  const onEvent = (event: CallEvent, own?: CallPort): void =>
    happenings.happened(
      {
        ...event,
        what: sensitive.text(event.what),
        ...(event.sounds && { sounds: sensitive.value(event.sounds) }),
      },
      own,
    );
  const phones = script.phones instanceof Phones ? script.phones : new Phones(script.phones);
  const call = new SimulatedCall(clock, {
    direction: program.parameters.some((parameter) => parameter.default === undefined) ? 'outgoing' : 'incoming',
    ...script,
    phones,
    onEvent,
    onSaid,
  });
  const calls = [call];
  const sandbox = runsScripts(program) ? await openSandbox?.() : undefined;
  const model = new SimulatedModel(fixtures, { select, classes, now: () => clock.now() });
  const services = simulatedServices({
    clock,
    model,
    recordings,
    queues: lines(queues, clock),
    agents: simulatedAgents(agents, clock),
    voicemail: await simulatedVoicemail(mailboxes, clock),
    components,
    http,
    operations,
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(openSandbox === undefined ? {} : { openSandbox }),
    openCall: () => {
      const names = legNames(calls.length);
      const leg = { direction: 'outgoing', label: '', phones, names, onEvent, onSaid } as const;
      calls.push(new SimulatedCall(clock, leg));
      return calls.at(-1) as SimulatedCall;
    },
    endCall: (dialogid) => calls.find((each) => each.dialogid === dialogid)?.end('external', 'Request Terminated'),
    onServed: (served) => happenings.began(served),
    phones,
    ...(scenarios === undefined ? { folder: path.dirname(program.file) } : { scenarios }),
    debug,
    note: (what) => onEvent({ at: clock.now(), what }),
  });
  const run = startRun(program, { call, args, variables, log: SILENT, clock, services, sensitive });
  happenings.began(run);
  const outcome = await clock.run(run.finished);
  return { run, call, outcome, events: happenings.ofFirst, happenings, model };
}

function legNames(count: number): CallNames {
  return { callid: `leg-${count}@simulation`, dialogid: `leg-${count}` };
}

/**
 * The kind of call for a caller's script.
 * @param from the caller's number; `none`: the scenario starts without a caller
 * @param to the dialled number; `none`: the platform has called the other party
 */
export function calledBy(
  from: string | undefined,
  to: string | undefined,
): Pick<CallScript, 'from' | 'to' | 'direction'> {
  if (from === 'none') return { direction: 'outgoing' };
  const caller = from === undefined ? {} : { from };
  if (to === 'none') return { ...caller, direction: 'connected' };
  return { ...caller, ...(to === undefined ? {} : { to }) };
}

/** Queues with earlier callers, in the domain of simulated calls. */
function lines(queues: Readonly<Record<string, readonly number[]>>, clock: VirtualClock): MemoryQueues {
  const found = new MemoryQueues();
  const never = new AbortController().signal;
  for (const [name, times] of Object.entries(queues)) {
    for (const [index, after] of times.entries()) {
      const run = `before-${index + 1}`;
      found.enter(SIMULATED_DOMAIN, name, { run, since: clock.now(), moved: () => undefined });
      void clock.sleep(after, never).then(() => found.leave(SIMULATED_DOMAIN, name, run));
    }
  }
  return found;
}
