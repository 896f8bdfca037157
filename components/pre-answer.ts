import { Type } from 'typebox';
import type { ComponentContext, PreAnswer } from '../runtime/runs/index.ts';
import { Duration, parseDuration, type Value } from '../runtime/language/index.ts';

export const PRE_ANSWER_DOCS = [
  '`pre_answer` names a scenario that talks to a called party alone before it is connected, e.g. to ask whether it takes the',
  'call. When the party hangs up there, or the scenario fails, returns `false` or takes longer than `pre_answer_timeout`, the',
  'party counts as refusing (603).',
];

/** Settings for a scenario that serves the called party before the connection. */
export const preAnswerSettings = {
  pre_answer: Type.String({
    maxLength: 64,
    default: '',
    examples: [''],
    description: 'Id of a scenario for the called party, before it is connected.',
  }),
  pre_answer_timeout: Duration({
    default: '60s',
    examples: ['60s'],
    description: 'How long that scenario may take for one party.',
  }),
  pre_answer_args: Type.Record(Type.String(), Type.Any(), {
    default: {},
    description: 'Values of its parameters.',
  }),
};

interface Settings {
  readonly pre_answer: string;
  readonly pre_answer_timeout: string;
  readonly pre_answer_args: Record<string, unknown>;
}

/**
 * Options for `dial` and `refer`; empty without such a scenario.
 * @throws ScenarioError code `no_such_scenario`, before the call
 */
export async function preAnswerOf(
  { children, note, clock }: Pick<ComponentContext, 'children' | 'note' | 'clock'>,
  { pre_answer: scenario, pre_answer_args: args, pre_answer_timeout: timeout }: Settings,
): Promise<{ readonly preAnswer?: PreAnswer }> {
  if (scenario === '') return {};
  await children.find(scenario);
  const preAnswer: PreAnswer = async (call) => {
    try {
      const start = { scenario, args: args as Record<string, Value>, parallel: false, keep: false, call };
      const run = await children.start(start);
      const over = new AbortController();
      const late = (): void => run.stop(`it took longer than pre_answer_timeout: ${timeout}`);
      const timer = clock.sleep(parseDuration(timeout) ?? 0, over.signal).then(late, () => undefined);
      const { status, value } = await run.settled;
      over.abort();
      await timer;
      return status === 'completed' && value !== false;
    } catch (error) {
      note('error', `${scenario} could not be started: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  };
  return { preAnswer };
}
