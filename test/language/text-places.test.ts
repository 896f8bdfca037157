import process from 'node:process';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkText } from '../../runtime/language/checker/check-file.ts';
import type { Program } from '../../runtime/language/program.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';

/** A script as YAML lets it be written; the character before `§` is where it goes wrong, and `§` is taken out. */
const STYLES: Readonly<Record<string, string>> = {
  'lines (|)': 'code: |\n        const a = null;\n        return a.b§;',
  'lines (|-), as the shorthand': '|-\n        const a = null;\n        return a.b§;',
  'lines that are indented deeper (|4-)': 'code: |4-\n            const a = null;\n          return a.b§;',
  'lines that become one (>)': 'code: >-\n        const a = null;\n        return a.b§;',
  'lines that become one, but for empty ones (>)': `code: >

        const a = null;

        return a.b§;`,
  'double quotes': 'code: "const a = null;\\nreturn\\x20a.b§;"',
  'double quotes over lines': 'code: "const a = null;\n\n         return a.b§;"',
  'single quotes': "code: 'const a = '''';\n\n         return a.x.b§;'",
  'no quotes': 'code: const a = null;\n         return a.b§;',
  'tabs and wide characters': `code: |
        const a = null;
        const t = '日本 😀\t'; /* é… */ return a.b§;`,
};

function scenario(style: string, code: string): { text: string; place: string } {
  const isShort = style.startsWith('|');
  const marked = `id: x
start: calc
blocks:
  calc:
    script:${isShort ? ' ' : '\n      '}${code}
    next: then
  then: { log: "\${string(calc.value)}", next: end }
`;
  const before = marked.slice(0, marked.indexOf('§')).split('\n');
  return { text: marked.replace('§', ''), place: `${before.length}:${before.at(-1)?.length}` };
}

describe('places in scripts of blocks', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  const check = (text: string) =>
    checkText(text, { file: '/scenarios/x.yaml', components, compile: sandbox.compile.bind(sandbox) });

  for (const [name, style] of Object.entries(STYLES)) {
    for (const end of ['\n', '\r\n']) {
      const where = `${name}${end === '\n' ? '' : ', in a file of Windows'}`;

      it(`are places in the file: ${where}`, async () => {
        const { text, place } = scenario(style, style);
        const { program } = await check(text.replaceAll('\n', end));
        const { outcome, run } = await simulate(program as Program, {
          script: {},
          components,
          openSandbox: async () => sandbox,
        });
        expect(outcome.error?.stack).to.deep.equal([`x.yaml:${place}`]);
        expect(run.trace[0]?.error?.stack).to.deep.equal([`x.yaml:${place}`]);
      });

      it(`are places in the file for syntax errors: ${where}`, async () => {
        const { text, place } = scenario(style, style.replace('b§;', 'b.;§'));
        const { problems } = await check(text.replaceAll('\n', end));
        expect(problems.map(({ line, column }) => `${line}:${column}`)).to.deep.equal([place]);
      });
    }
  }

  it('are found in linear time for any number of mistakes', async () => {
    const { text } = scenario('', `code: |\n        ${"if(args.a)await call.play('a');".repeat(4000)}§`);
    const before = process.threadCpuUsage();
    const { problems } = await check(text);
    const { user, system } = process.threadCpuUsage(before);
    expect(problems).to.have.lengthOf.greaterThan(4000);
    const last = Math.max(...problems.map(({ column }) => column));
    expect(last).to.equal(9 + 31 * 3999 + 'if('.length);
    // From its beginning for each of them it takes some two seconds.
    expect((user + system) / 1000).to.be.lessThan(1000);
  });

  it('are reported for promises without await', async () => {
    const { text, place } = scenario(
      '',
      `code: |
        void Promise.reject(new§ Error("x"));
        return 1;`,
    );
    const { program } = await check(text);
    const { run } = await simulate(program as Program, { script: {}, components, openSandbox: async () => sandbox });
    const [line, column] = place.split(':').map(Number);
    expect(run.trace[0]?.log).to.deep.equal([
      `warn: a rejected promise was not handled: x (x.yaml:${line}:${(column ?? 0) - 2})`,
    ]);
  });
});
