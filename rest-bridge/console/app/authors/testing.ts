/** Runs tests of a text that need not be saved. */
import { send } from '../lib/api.ts';
import type { OpenScenario } from './open-scenario.ts';
import type { Tested } from './run-types.ts';
import { pathOf } from './scenario-types.ts';

/**
 * @param tests in the form of a test file
 * @throws ApiError 422 when the scenario has mistakes
 */
export async function runTests(open: OpenScenario, tests: string): Promise<Tested> {
  const { value: script } = open.script;
  if (script === undefined) return { problems: [], tests: [] };
  const { code } = script;
  const scriptdata = { ...script.scriptdata, source: open.text.value };
  // A saved text runs as it serves: files have modules and prompts of their own.
  const serves = !open.isChanged && script.version === script.serving.version;
  const body = serves ? { code, tests } : { code, draft: true, scriptdata, tests };
  return await send<Tested>('POST', `${pathOf(open.kind)}!test`, body);
}
