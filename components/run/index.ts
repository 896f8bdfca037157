import { Type } from 'typebox';
import { type Clock, defineComponent, type Run, type RunOutcome } from '../../runtime/runs/index.ts';
import { INTERRUPT, ScenarioError, type Value } from '../../runtime/language/index.ts';
import { untilFinished } from '../nested.ts';

/** Milliseconds for the `finally` of an interrupted function: less than the grace time of the block. */
const FINALLY_MS = 4000;

export const run = defineComponent({
  name: 'run',
  summary: 'Runs another scenario, in place of this one or beside it.',
  otherNames: ['gosub', 'subroutine', 'include', 'invoke', 'execute', 'function', 'call_scenario'],
  docs: [
    'As a function (`mode: call`) it has the call of this scenario, which waits for its end and goes on with the returned value.',
    'An error that it does not handle is the error of this block. When the caller hangs up, the function ends first: its',
    '`on: { hangup: ... }` and its `finally` run before those of this scenario, which can read `status` and `value` there. An',
    'interrupt of this scenario stops it; its `finally` has four seconds then. In parallel it has a call of its own, with which',
    'it may `call` somebody; `await_run` waits for its value, `send` and `receive` exchange messages with it. It ends with this',
    'scenario unless `keep` is set.',
  ].join('\n'),
  settings: Type.Object({
    scenario: Type.String({ minLength: 1, maxLength: 64, examples: ['ask_number'], description: 'Its id.' }),
    args: Type.Record(Type.String(), Type.Any(), { default: {}, description: 'Values of its parameters.' }),
    mode: Type.Enum(['call', 'parallel'], { default: 'call', description: 'In place of this scenario, or beside it.' }),
    keep: Type.Boolean({ default: false, description: 'In parallel: it goes on when this scenario ends.' }),
  }),
  shorthand: 'scenario',
  authorCodes: 'any',
  startsScenario: { scenario: 'scenario', args: 'args' },
  exits: { next: { description: 'It is done; in parallel: it has begun.' } },
  results: {
    value: { type: 'any', description: 'What it returned.' },
    run: { type: 'string', description: 'Its run id.' },
    status: {
      type: 'string',
      description: 'How it ended; in parallel `running`.',
      values: ['completed', 'ended', 'stopped', 'failed', 'running'],
    },
  },
  waits: true,
  hasOwnEnd: true,
  method: 'scenario.run',
  subject: 'scenario',
  run: async ({ children, signal, result, clock }, { scenario, args, mode, keep }) => {
    const parallel = mode === 'parallel';
    const child = await children.start({ scenario, args: args as Record<string, Value>, parallel, keep });
    if (parallel) return { exit: 'next', fields: { run: child.id, status: 'running' } };
    void child.settled.then((outcome) => result(fieldsOf(child.id, outcome)));
    signal.addEventListener('abort', () => void letGo(child, signal.reason, clock), { once: true });
    await untilFinished(child, signal);
    return { exit: 'next' };
  },
});

/** After an interrupt, waits until the call is returned; after its end, does not. Never rejects. */
async function letGo(child: Run, reason: unknown, clock: Clock): Promise<void> {
  const isOver = child.calls[0]?.endSignal.aborted === true;
  if (isOver || !(reason instanceof ScenarioError && reason.code === INTERRUPT)) return;
  const settled = new AbortController();
  void child.settled.then(() => settled.abort());
  await clock.sleep(FINALLY_MS, settled.signal).then(
    () => child.stop('the scenario that called it goes on'),
    () => undefined,
  );
}

function fieldsOf(id: string, { status, value }: RunOutcome): Record<string, Value> {
  return { run: id, status, value: value ?? null };
}
