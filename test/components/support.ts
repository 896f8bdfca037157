/** Scenarios of one block, for the tests of single components. */
import { expect } from 'chai';
import type { Log } from '../../runtime/runs/log.ts';
import type { RunServices } from '../../runtime/runs/ports/services.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { type PhoneScript, Phones } from '../../runtime/workbench/simulation/phones.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import type { Value } from '../../runtime/language/values.ts';
import { silentLog } from '../support/log.ts';
import { program, simulate } from '../support/scenarios.ts';

/**
 * A scenario that runs one block, `it`, whose exits all end the run.
 * @param block its keys, one per line
 * @param answered whether the call is answered first
 */
export function scenarioOf(block: string, answered = true): string {
  const lines = block
    .trim()
    .split('\n')
    .map((line) => `    ${line.trim()}\n`);
  const pickUp = answered ? '  pick_up: { answer: , next: it }\n' : '';
  return `id: t
start: ${answered ? 'pick_up' : 'it'}
blocks:
${pickUp}  it:
${lines.join('')}`;
}

interface Expected {
  /** Its keys, one per line. */
  readonly block: string;
  /** Whether the call is answered first; default: true. */
  readonly answered?: boolean;
  readonly script?: CallScript;
  readonly exit: string;
  readonly result?: object;
  /** Expected actions on the call, without the leading answer and the hang-up at the end of the run. */
  readonly events?: readonly string[];
  readonly milliseconds?: number;
}

/** A test that runs one block in a simulated call. */
export function plays(title: string, expected: Expected): void {
  const { block, answered = true, script = {}, exit, result, events, milliseconds } = expected;
  it(title, async () => {
    const { run, outcome, events: happened } = await simulate(scenarioOf(block, answered), script);
    const entry = run.trace.find(({ block: name }) => name === 'it');
    expect(entry?.exit).to.equal(exit);
    if (result) expect(entry?.result).to.deep.equal(result);
    if (events) expect(happened).to.deep.equal(answered ? aroundAnswered(events) : events);
    if (milliseconds !== undefined) expect(entry?.milliseconds).to.equal(milliseconds);
    expect(outcome.error).to.equal(undefined);
  });
}

/** All actions on an answered call: a finished run hangs up, unless the block has ended the call. */
function aroundAnswered(events: readonly string[]): string[] {
  const over = events.some((event) => event.startsWith('ended by'));
  return ['answer', ...events, ...(over ? [] : ['hangup', 'ended by scenario: hangup'])];
}

interface Played {
  readonly exit: string | undefined;
  readonly result: Readonly<Record<string, Value>> | undefined;
  readonly error: string | undefined;
  readonly events: readonly string[];
  readonly milliseconds: number | undefined;
}

/** Answers a call and runs one block; returns its actions. */
export async function play(
  block: string,
  {
    script = {},
    http = {},
    phones = {},
    services,
    log = silentLog,
  }: {
    script?: CallScript;
    http?: Record<string, Value>;
    phones?: Record<string, PhoneScript>;
    services?: RunServices;
    log?: Log;
  } = {},
): Promise<Played> {
  const clock = new VirtualClock();
  const events: string[] = [];
  const note = (what: string): void => void events.push(what);
  const call = new SimulatedCall(clock, { ...script, onEvent: ({ what }) => note(what) });
  const run = startRun(program(scenarioOf(block)), {
    call,
    clock,
    log,
    services: services ?? simulatedServices({ clock, http, phones: new Phones(phones), note }),
  });
  await clock.run(run.finished);
  const entry = run.trace.find(({ block: name }) => name === 'it');
  return {
    exit: entry?.exit,
    result: entry?.result,
    error: entry?.error?.code,
    milliseconds: entry?.milliseconds,
    events: events.filter((event) => !/^(answer$|hangup$|ended)/.test(event)),
  };
}
