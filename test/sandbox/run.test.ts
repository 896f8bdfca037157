import { expect } from 'chai';
import { type Sandbox, type ScriptError, openSandbox } from '../../runtime/sandbox/index.ts';
import { errorOf, startScript } from './support.ts';

describe('sandbox: runs', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  it('runs a block in TypeScript: it sees variables, changes them and returns a value', async () => {
    const { value, vars, usage } = await startScript(sandbox, {
      format: 'ts',
      source: `let n: number = vars.n as number;
vars.n = n + 1;
return { twice: n * 2, args };`,
      vars: { n: 20, kept: 'x' },
      args: [1],
    }).finished;
    expect(value).to.deep.equal({ twice: 40, args: [1] });
    expect(vars).to.deep.equal({ n: 21, kept: 'x' });
    expect(usage.activations).to.equal(1);
    expect(usage.cpuMs).to.be.greaterThan(0);
  });

  it('runs a module whose default function gets the call and the arguments', async () => {
    const played: unknown[] = [];
    const { value } = await startScript(sandbox, {
      kind: 'module',
      format: 'ts',
      source: `interface Args { name: string }
export default async function (call: any, args: Args) {
  await call.play({ file: \`\${args.name}.wav\` });
  const [asked] = await call.collect({ max: 1 });
  return asked.max;
}`,
      args: { name: 'welcome' },
      onCommand: async (name, args) => {
        played.push([name, ...args]);
        return args;
      },
    }).finished;
    expect(value).to.equal(1);
    expect(played).to.deep.equal([
      ['call.play', { file: 'welcome.wav' }],
      ['call.collect', { max: 1 }],
    ]);
  });

  it('links the given modules, and no other', async () => {
    const modules = [
      { specifier: './a.ts', source: 'export let a: number = 1; a += 1;', format: 'ts', file: 'a.ts' },
    ] as const;
    const source = "import { a } from './a.ts';\nexport default async () => a;";
    expect((await startScript(sandbox, { kind: 'module', source, modules }).finished).value).to.equal(2);
    for (const wanted of ['node:fs', 'fs', '../../etc/passwd', 'https://example.com/a.js', './b.ts', '/a.ts']) {
      const other = `import * as a from '${wanted}';\nexport default async () => a;`;
      // oxlint-disable-next-line eslint/no-await-in-loop
      const error = await errorOf(startScript(sandbox, { kind: 'module', source: other, modules }));
      expect([error.code, error.message]).to.deep.equal(['compile', `1:1: there is no module "${wanted}" to import`]);
    }
  });

  it('tells a mistake in a module at its place', async () => {
    const modules = [
      { specifier: './a.ts', source: 'export const a = 1;\nlet b = ;', format: 'js', file: 'a.ts' },
    ] as const;
    const source = "import { a } from './a.ts';\nexport default async () => a;";
    const error = await errorOf(startScript(sandbox, { kind: 'module', source, modules }));
    expect([error.code, error.message]).to.deep.equal(['compile', "a.ts:2:9: Unexpected token ';'"]);
  });

  it('awaits commands at the top level of a module', async () => {
    const source = 'const [x] = await echo(7);\nexport default async () => x;';
    expect((await startScript(sandbox, { kind: 'module', source }).finished).value).to.equal(7);
  });

  it('gives each run a new context, also in a reused isolate', async () => {
    const options = { source: 'globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n;', version: 'fresh' };
    for (let i = 0; i < 4; i++) {
      // One after the other, so that the isolate is used again.
      // oxlint-disable-next-line eslint/no-await-in-loop
      expect((await startScript(sandbox, options).finished).value).to.equal(1);
    }
  });

  it('re-creates errors of commands inside by code and message, as ScenarioError', async () => {
    const source = `try { await fails(); } catch (error) {
  return [error instanceof ScenarioError, error.name, error.code, error.message];
}`;
    expect((await startScript(sandbox, { source }).finished).value).to.deep.equal([
      true,
      'ScenarioError',
      'asked',
      'as asked',
    ]);
  });

  it('hides the message of an unexpected host error from the script', async () => {
    const run = startScript(sandbox, {
      source: 'try { await echo() } catch ({ code, message }) { return [code, message] }',
      onCommand: () => Promise.reject(new Error('secret path')),
    });
    expect((await run.finished).value).to.deep.equal(['internal', 'echo failed']);
  });

  it('reports what the script throws, with code and the lines of the TypeScript source', async () => {
    const run = startScript(sandbox, {
      kind: 'module',
      format: 'ts',
      file: 'queue.ts',
      source: `interface A { b: number }

export default () => {
  throw new ScenarioError("full", "no place");
};`,
    });
    const error = (await errorOf(run)) as ScriptError;
    expect(error.name).to.equal('ScriptError');
    expect([error.code, error.message]).to.deep.equal(['full', 'no place']);
    expect(error.scriptStack).to.include('queue.ts:4:9');
    expect(error.scriptStack).not.to.match(/inside|file:/);
  });

  it('reports errors thrown while a module is loaded', async () => {
    const error = (await errorOf(
      startScript(sandbox, { kind: 'module', source: 'export default 1;\nnull.x;', file: 'm.js' }),
    )) as ScriptError;
    expect(error.code).to.equal('script');
    expect(error.scriptStack).to.include('m.js:2:6');
  });

  it('ends a script that waits for something impossible', async () => {
    expect((await errorOf(startScript(sandbox, { source: 'await new Promise(() => {})' }))).code).to.equal('stalled');
  });

  it('delivers events to listeners, and drops others', async () => {
    const run = startScript(sandbox, {
      source: `const seen = [];
const off = events.on('dtmf', ({ digit }) => { seen.push(digit); if (digit === '2') off(); });
const { reason } = await events.next('hangup');
return [...seen, reason];`,
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    run.emit({ type: 'other' });
    for (const digit of ['1', '2', '3']) run.emit({ type: 'dtmf', digit });
    run.emit({ type: 'hangup', reason: 'caller' });
    expect((await run.finished).value).to.deep.equal(['1', '2', 'caller']);
  });

  it('cancels a command, and aborts pending ones when the run ends', async () => {
    const aborted: string[] = [];
    const run = startScript(sandbox, {
      source: `const playing = call.play();
call.collect();
await echo('go');
playing.cancel();
return playing.catch(({ code }) => code);`,
      onCommand: (name, args, signal) => {
        if (name === 'echo') return Promise.resolve(args);
        signal.addEventListener('abort', () => aborted.push(name));
        return new Promise(() => undefined);
      },
    });
    expect((await run.finished).value).to.equal('cancelled');
    expect(aborted).to.deep.equal(['call.play', 'call.collect']);
  });

  it('logs with levels, from console too, and reports unhandled rejections', async () => {
    const lines: string[] = [];
    await startScript(sandbox, {
      source: "log('a', { b: 1 }); log.error('c'); console.warn('d'); Promise.reject(new Error('e')); await sleep(1);",
      onLog: (level, text) => lines.push(`${level} ${text}`),
    }).finished;
    expect(lines.toSorted()).to.deep.equal(
      ['info a {"b":1}', 'error c', 'warn d', 'warn a rejected promise was not handled: e (test.js:1:71)'].toSorted(),
    );
  });

  it('passes the names of secrets, not their values', async () => {
    const run = startScript(sandbox, {
      source: `
        const quiet = [await secrets, JSON.stringify(secrets), { ...secrets }, Object.keys(secrets), String(Object.getPrototypeOf(secrets))];
        return [secrets.token, 'token' in secrets, 'other' in secrets, 'toString' in secrets, quiet]`,
      secrets: { token: '{{t}}' },
    });
    const all = { token: '{{t}}' };
    const quiet = [all, JSON.stringify(all), all, ['token'], 'null'];
    expect((await run.finished).value).to.deep.equal(['{{t}}', true, false, false, quiet]);
  });

  it('names a missing secret, and lets no script add one', async () => {
    const missing = ['secrets.other', "secrets['other']", 'const { other } = secrets', "Reflect.get(secrets, 'other')"];
    for (const source of [...missing, 'secrets.toString()', 'secrets.constructor', '`${secrets}`']) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- one after the other
      const error = await errorOf(startScript(sandbox, { source, secrets: { token: '{{t}}' } }));
      expect(error.code, source).to.equal('no_secret');
      if (missing.includes(source))
        expect(error.message).to.include(
          'there is no secret "other" in this domain: the operator adds it to secrets.json, or the file that RINGMASTER_SECRETS_FILE names',
        );
    }
    for (const source of [
      "'use strict'; secrets.other = 'x'",
      "'use strict'; delete secrets.token",
      "Object.defineProperty(secrets, 'other', { value: 1 })",
      'Object.setPrototypeOf(secrets, {})',
    ]) {
      // oxlint-disable-next-line eslint/no-await-in-loop
      const error = await errorOf(startScript(sandbox, { source, secrets: { token: '{{t}}' } }));
      expect(error.message, source).to.match(/TypeError|not extensible|Cannot|trap/);
    }
  });

  it('ends immediately when its signal aborts', async () => {
    const controller = new AbortController();
    const run = startScript(sandbox, { source: 'await sleep(60000)', signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    expect((await errorOf(run)).name).to.equal('ScriptAbortedError');
  });

  it('refuses arguments and results other than plain data', async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect((await errorOf(startScript(sandbox, { source: '', args: circle as never }))).code).to.equal('not_plain');
    const source = 'try { await echo(1n) } catch ({ code }) { return code }';
    expect((await startScript(sandbox, { source }).finished).value).to.equal('not_plain');
    const deep = 'let d = []; for (let i = 0; i < 500; i++) d = [d]; return d';
    expect((await errorOf(startScript(sandbox, { source: deep }))).code).to.equal('not_plain');
    const key = 'return JSON.parse(\'{"__proto__": {"a": 1}}\')';
    expect((await errorOf(startScript(sandbox, { source: key }))).code).to.equal('not_plain');
  });
});

describe('sandbox: compile', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  const cases = [
    ['a block', 'js', 'block', 'if (vars.a) return 1;', undefined],
    ['a block with a mistake', 'js', 'block', '\n  let x = ;', { line: 2, column: 11 }],
    ['a TypeScript block with a mistake', 'ts', 'block', 'const a = 1;\nlet x: string = ;', { line: 2, column: 17 }],
    ['a module', 'ts', 'module', 'export default async (call: unknown): Promise<void> => {};', undefined],
    ['a module with a mistake', 'js', 'module', 'export default 1;\nlet y = ;', { line: 2, column: 9 }],
    ['a module with an enum', 'ts', 'module', 'export default 1;\nenum A { b }', { line: 2, column: 1 }],
    ['a module without a default export', 'js', 'module', 'export const a = 1;', undefined],
    ['an import, which only a run links', 'js', 'module', "import fs from 'node:fs'; export default 1;", undefined],
    ['a source that is too long', 'js', 'block', ';'.repeat(200_000), { line: 1, column: 1 }],
  ] as const;
  for (const [name, format, kind, source, where] of cases) {
    it(`${where ? 'finds the mistake in' : 'accepts'} ${name}`, async () => {
      const result = await sandbox.compile({ format, kind, source, file: 'f' });
      if (result.ok) {
        expect(where).to.equal(undefined);
      } else {
        const [{ line, column, message } = { line: 0, column: 0, message: '' }] = result.problems;
        expect({ line, column }, message).to.deep.equal(where);
        expect(message).not.to.equal('');
      }
    });
  }
});
