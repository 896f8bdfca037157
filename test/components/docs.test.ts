import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { mismatches } from '../../runtime/workbench/tests/expectations.ts';
import { simulate as runSimulation } from '../../runtime/workbench/simulation/simulation.ts';
import { readTestFile } from '../../runtime/workbench/tests/test-file.ts';
import { scenarioSchema } from '../../runtime/workbench/schema/json-schema.ts';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { withErrorList } from '../../components/docs/error-list.ts';
import { componentPage, isOperation, operationsPage, withComponentList } from '../../components/docs/page.ts';
import { components } from '../../runtime/component-registry/index.ts';
import { DEMO_SCENARIOS } from '../../runtime/iam/index.ts';
import { LazySandbox } from '../../runtime/cli/lazy-sandbox.ts';
import { runsScripts } from '../../runtime/language/program.ts';
import { SCENARIO_ERROR_CODES } from '../../runtime/language/error-codes.ts';
import { checkFile } from '../../runtime/language/checker/check-file.ts';
import type { Program } from '../../runtime/language/program.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { silentLog } from '../support/log.ts';
import { program, projectFolder } from '../support/scenarios.ts';

const schema = scenarioSchema(components);
const validate = new Ajv2020({ strict: false }).compile(schema);
/** Keys at the top of a scenario. */
const TOP: ReadonlySet<string> = new Set(Object.keys((schema as { properties: object }).properties));

describe('guide for authors', () => {
  const folder = path.join(projectFolder, 'docs/scenarios');
  const page = async (name: string): Promise<string> => readFile(path.join(folder, name), 'utf8');

  it('lists every component (else: node components/docs/write.ts)', async () => {
    const list = await page('components.md');
    expect(withComponentList(list, components)).to.equal(list);
  });

  it('shows a first scenario without mistakes, and tests that pass', async () => {
    const [scenario = ''] = examplesOf(await page('first-scenario.md'));
    const [tests = ''] = examplesOf(await page('testing.md'));
    const { tests: read, problems } = readTestFile(tests, 'hello.test.yaml');
    expect(problems).to.deep.equal([]);
    for (const { turns, expect: expected } of read.tests) {
      const played = await runSimulation(program(scenario), { script: { turns }, components });
      expect(mismatches(played, expected)).to.deep.equal([]);
    }
  });

  it('shows blocks and settings of scenarios that the schema allows', async () => {
    let blocks = 0;
    for (const name of await readdir(folder)) {
      for (const text of examplesOf(await page(name))) {
        const example = parse(text) as Record<string, object>;
        if ('tests' in example) continue;
        const isTop = Object.keys(example).every((key) => TOP.has(key));
        const own = isTop ? example : { blocks: example };
        blocks += Object.keys(own['blocks'] ?? {}).length;
        const whole = { id: 'a', start: 'b', ...own, blocks: own['blocks'] ?? { b: { answer: null, next: 'end' } } };
        expect(validate(whole), `${name}: ${text}${JSON.stringify(validate.errors)}`).to.equal(true);
      }
    }
    expect(blocks).to.be.greaterThan(40);
  });

  it('names the demo number of every example, in its file and in the pages', async () => {
    const examples = path.join(projectFolder, 'scenarios/examples');
    // Two examples import hours.ts, which is no scenario. The campaign has no caller.
    const files = (await readdir(examples)).filter((name) => /(?<!\.test|^hours|^campaign)\.(yaml|ts)$/.test(name));
    const numbers = Object.entries(DEMO_SCENARIOS).map(([number, code]) => [code, number] as const);
    expect(files.map((name) => name.replace(/\.\w+$/, '')).toSorted()).to.deep.equal(
      numbers.map(([code]) => code).toSorted(),
    );
    const pages = ['docs/operating/demo-data.md', 'scenarios/README.md'].map((name) => path.join(projectFolder, name));
    const texts = await Promise.all(pages.map((name) => readFile(name, 'utf8')));
    for (const [code, number] of numbers) {
      const file = files.find((name) => name.startsWith(`${code}.`)) ?? '';
      expect(await readFile(path.join(examples, file), 'utf8')).to.match(new RegExp(`^(?:#|//) Dial ${number}\\b`));
      for (const text of texts) expect(text).to.match(new RegExp(`${number}(?: for)?\\s+\`${code}\``));
    }
  });

  it('lists every error code, sorted (else: node components/docs/write.ts)', async () => {
    const errors = await page('errors.md');
    expect(withErrorList(errors, components)).to.equal(errors);
    const codes = [...errors.matchAll(/^\| `(\w+)` +\|/gm)].map(([, code = '']) => code);
    expect(codes).to.deep.equal(SCENARIO_ERROR_CODES.toSorted());
  });
});

/** The YAML examples of a page. */
function examplesOf(page: string): readonly string[] {
  return [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text);
}

describe('component pages', () => {
  it('of the call operations equal the generated ones (else: node components/docs/write.ts)', async () => {
    const folder = path.join(projectFolder, 'components/operation');
    const introduction = await readFile(path.join(folder, 'introduction.md'), 'utf8');
    expect(await readFile(path.join(folder, 'README.md'), 'utf8')).to.equal(operationsPage(components, introduction));
    const [, example = ''] = /```yaml\n([^]*?)```/.exec(introduction) ?? [];
    expect([...program(example).blocks.values()].some(({ component }) => isOperation(component))).to.equal(true);
  });

  for (const component of [...components.values()].filter((each) => !isOperation(each))) {
    const folder = path.join(projectFolder, 'components', component.name);

    it(`${component.name}: the README equals the one generated from index.ts and example.yaml (else: node components/docs/write.ts)`, async () => {
      const example = await readFile(path.join(folder, 'example.yaml'), 'utf8');
      expect(await readFile(path.join(folder, 'README.md'), 'utf8')).to.equal(componentPage(component, example));
    });

    it(`${component.name}: the example has no mistakes, uses the component, and runs`, async () => {
      // Where it is, as authors check it.
      const checked = await checkFile({ file: path.join(folder, 'example.yaml'), components });
      expect(checked.problems).to.deep.equal([]);
      const example = checked.program as Program;
      expect([...example.blocks.values()].map((block) => block.component.name)).to.include(component.name);
      const args = Object.fromEntries(example.parameters.map(({ name }) => [name, '101']));
      const direction = example.parameters.length > 0 ? 'outgoing' : 'incoming';
      await using sandbox = new LazySandbox();
      const clock = new VirtualClock();
      const needed = runsScripts(example) ? { sandbox: await sandbox.open() } : {};
      const run = startRun(example, {
        call: new SimulatedCall(clock, { direction, presses: ['1'] }),
        clock,
        args,
        log: silentLog,
        services: simulatedServices({ clock, ...needed }),
      });
      const outcome = await clock.run(run.finished);
      expect(outcome.error).to.equal(undefined);
      expect(outcome.status).to.equal('completed');
    });
  }
});
