import { expect } from 'chai';
import { script } from '../../components/script/index.ts';
import type { ComponentContext } from '../../runtime/runs/component.ts';
import { describeError } from '../../runtime/runs/run/run-errors.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { startScript } from '../sandbox/support.ts';

describe('component script', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  /** What the component uses of its context. */
  function context(signal: AbortSignal): ComponentContext {
    return {
      signal,
      script: {
        run: ({ source, format, vars, wallMs, signal: stop }) =>
          startScript(sandbox, { source, format, vars, limits: { wallMs }, signal: stop, commands: [] }).finished,
      },
    } as Partial<ComponentContext> as ComponentContext;
  }

  const run = (code: string, vars = {}, timeout = '5s') =>
    script.run(context(new AbortController().signal), { code, vars, language: 'ts', timeout });

  it('returns the value, and assigns the changed variables', async () => {
    const code = 'const n: number = vars.a; vars.a = n + 1; vars.list = [n]; return `${n}`;';
    expect(await run(code, { a: 1, same: { x: [1] } })).to.deep.equal({
      exit: 'next',
      fields: { value: '1' },
      assign: { a: 2, list: [1] },
    });
  });

  const failures = [
    ['an error of its own', 'throw new ScenarioError("closed", "come back")', 'closed'],
    ['any other error', 'null.x', 'script'],
    ['a mistake', 'let = ;', 'compile'],
    ['a limit', 'for (;;);', 'limit'],
    ['a timeout', 'await new Promise(() => events.on("x", () => {}))', 'limit'],
  ] as const;
  for (const [name, code, expected] of failures) {
    it(`takes exit error with the code of ${name}`, async () => {
      const timeout = expected === 'limit' ? '200ms' : '5s';
      const error = await run(code, {}, timeout).catch((reason: unknown) => reason);
      expect(describeError(error).code).to.equal(expected);
    });
  }
});
