// Calls a list of numbers by the clock, and again where nobody was reached. It has no number to dial: a request starts it, or the
// schedule below, once the comment before it is taken away in a copy of your own. docs/scenarios/campaigns.md has the classes of its
// data, and says how to fill them, to start and to read the report.

export const name = 'Campaign';
export const parameters = {
  dial: { type: 'boolean', default: false, description: 'Call those who are due; otherwise only report' },
  lines: { type: 'integer', default: 2, description: 'Calls at the same time, up to 20' },
  caller_id: { type: 'string', default: '100', description: 'Number that the called party sees' },
};
export const starts = {
  hook: true,
  // The calling hours: schedule: { cron: '* 9-19 * * mon-sat', timezone: 'Europe/London', args: { dial: true } },
};

const NUMBERS = 'campaign/numbers';
const CALLS = 'campaign/calls';
const MINUTE = 60_000;
/** Attempts for one number. */
const ATTEMPTS = 4;
/** Minutes until the next attempt. */
const AGAIN: Readonly<Record<string, number>> = { busy: 5, no_answer: 60, refused: 30, machine: 120, failed: 30 };
/** No call lasts longer. One without a result after that was interrupted by a restart of the node. */
const LONGEST = 10 * MINUTE;

interface Callee {
  readonly id: string;
  readonly number: string;
  readonly attempts: number;
  readonly since: number;
}

export default async function (call: Call, args: { dial: boolean; lines: number; caller_id: string }) {
  if (!args.dial) return report();
  const due = await dueNumbers(Math.min(20, args.lines));
  await Promise.all(due.map((callee, line) => callOne(call, callee, `line${line}`, args.caller_id)));
  return { due: due.length };
}

/** Those who are to be called now, as many as lines are free. */
async function dueNumbers(lines: number): Promise<readonly Callee[]> {
  const now = Date.now();
  const calling = { state: 'calling', since: `${now - LONGEST}~` };
  const { count } = await model.list({ class: NUMBERS, filter: calling, limit: lines });
  if (count >= lines) return [];
  const due = { state: 'waiting', next: `~${now}` };
  const { entities } = await model.list<Callee>({ class: NUMBERS, filter: due, order: ['next'], limit: lines - count });
  return entities;
}

/** One attempt. Whatever happens, nobody makes the same one again. */
async function callOne(call: Call, { id, number, attempts }: Callee, leg: string, callerId: string): Promise<void> {
  const attempt = attempts + 1;
  const claim = await claimed(`${number} ${attempt}`, number);
  if (claim === undefined) return;
  await model.write({ class: NUMBERS, id, entity: { state: 'calling', attempts: attempt, since: Date.now() } });
  const last = attempt >= ATTEMPTS;
  let result = 'failed';
  try {
    result = await ring(call, number, leg, callerId, last);
  } finally {
    const state = result === 'reached' ? 'reached' : last ? 'given_up' : 'waiting';
    const next = Date.now() + (AGAIN[result] ?? 0) * MINUTE;
    await model.write({ class: CALLS, id: claim, entity: { result, ended: Date.now() } });
    await model.write({ class: NUMBERS, id, entity: { state, next } });
  }
}

/** Claims an attempt: its key is unique, so that only one run on one node gets it, also after a restart. */
async function claimed(key: string, number: string): Promise<string | undefined> {
  try {
    return (await model.write({ class: CALLS, entity: { key, number, begun: Date.now() } })).id;
  } catch (error) {
    if (error instanceof ScenarioError && error.code === 'model_conflict') return undefined;
    throw error;
  }
}

/** Calls the number; a person hears the message, and a machine only with the last attempt. */
async function ring(call: Call, to: string, leg: string, callerId: string, last: boolean): Promise<string> {
  const { exit } = await call.call({ to, leg, caller_id: callerId, timeout: '25s' });
  if (exit !== 'answered') return exit;
  let heard = false;
  try {
    const { exit: who } = await call.detectMachine({ leg, wait: last ? 'end_of_greeting' : 'decision' });
    if (who === 'machine' && !last) return 'machine';
    heard = true;
    await call.play({ sounds: 'welcome.wav', leg });
    return who === 'machine' ? 'machine' : 'reached';
  } catch (error) {
    // The party has hung up.
    if (error instanceof ScenarioError && error.code === 'call_ended') return heard ? 'reached' : 'refused';
    throw error;
  } finally {
    await call.hangup({ leg }).catch(() => undefined);
  }
}

/** How many numbers are in each state, and how many calls had each result. `lost`: interrupted, and not made again. */
async function report() {
  const numbers: Record<string, number> = { waiting: 0, calling: 0, lost: 0, reached: 0, given_up: 0 };
  for await (const { state, since } of all<{ state: string; since: number }>(NUMBERS)) {
    const shown = state === 'calling' && since < Date.now() - LONGEST ? 'lost' : state;
    numbers[shown] = (numbers[shown] ?? 0) + 1;
  }
  const calls: Record<string, number> = {};
  for await (const { result } of all<{ result: string | null }>(CALLS)) {
    const shown = result ?? 'open';
    calls[shown] = (calls[shown] ?? 0) + 1;
  }
  return { numbers, calls };
}

async function* all<T>(classname: string): AsyncGenerator<T> {
  const limit = 100;
  for (let offset = 0; ; offset += limit) {
    const { entities, count } = await model.list<T>({ class: classname, order: ['id'], limit, offset });
    yield* entities;
    if (count < limit) return;
  }
}
