import { Type } from 'typebox';
import type { ComponentContext, PreAnswer } from '../runtime/runs/index.ts';
import type { Value } from '../runtime/language/index.ts';

/** Settings for a scenario that serves the called party before the connection. */
export const preAnswerSettings = {
  pre_answer: Type.String({
    maxLength: 64,
    default: '',
    examples: [''],
    description: 'Id of a scenario for the called party, before it is connected.',
  }),
  pre_answer_args: Type.Record(Type.String(), Type.Any(), {
    default: {},
    description: 'Values of its parameters.',
  }),
};

interface Settings {
  readonly pre_answer: string;
  readonly pre_answer_args: Record<string, unknown>;
}

/**
 * Options for `dial` and `refer`; empty without such a scenario.
 * @throws ScenarioError code `no_such_scenario`, before the call
 */
export async function preAnswerOf(
  { children, note }: Pick<ComponentContext, 'children' | 'note'>,
  { pre_answer: scenario, pre_answer_args: args }: Settings,
): Promise<{ readonly preAnswer?: PreAnswer }> {
  if (scenario === '') return {};
  await children.find(scenario);
  const preAnswer: PreAnswer = async (call) => {
    try {
      const start = { scenario, args: args as Record<string, Value>, parallel: false, keep: false, call };
      const { status, value } = await (await children.start(start)).settled;
      return status === 'completed' && value !== false;
    } catch (error) {
      note('error', `${scenario} could not be started: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  };
  return { preAnswer };
}
