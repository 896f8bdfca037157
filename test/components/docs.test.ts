import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { mismatches } from '../../runtime/workbench/tests/expectations.ts';
import { simulate as runSimulation } from '../../runtime/workbench/simulation/simulation.ts';
import { readTestFile } from '../../runtime/workbench/tests/test-file.ts';
import { scenarioSchema } from '../../runtime/workbench/schema/json-schema.ts';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { componentPage, isOperation, operationsPage, withComponentList } from '../../components/docs/page.ts';
import { components } from '../../components/index.ts';
import { LazySandbox } from '../../runtime/cli/lazy-sandbox.ts';
import { runsScripts } from '../../runtime/language/program.ts';
import { checkFile } from '../../runtime/language/checker/check-file.ts';
import type { Program } from '../../runtime/language/program.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { program, projectFolder, silentLog } from '../support/scenarios.ts';

const validate = new Ajv2020({ strict: false }).compile(scenarioSchema(components));

describe('guide for authors', () => {
  const file = path.join(projectFolder, 'docs/scenarios.md');

  it('lists every component (else: node components/docs/write.ts)', async () => {
    const guide = await readFile(file, 'utf8');
    expect(withComponentList(guide, components)).to.equal(guide);
  });

  it('shows a first scenario without mistakes, and tests that pass', async () => {
    const guide = await readFile(file, 'utf8');
    const [scenario = '', tests = ''] = [...guide.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text);
    const { tests: read, problems } = readTestFile(tests, 'hello.test.yaml');
    expect(problems).to.deep.equal([]);
    for (const { turns, expect: expected } of read.tests) {
      const played = await runSimulation(program(scenario), { script: { turns }, components });
      expect(mismatches(played, expected)).to.deep.equal([]);
    }
  });

  it('shows blocks without mistakes', async () => {
    const guide = await readFile(file, 'utf8');
    const snippets = [...guide.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text ?? '').slice(3);
    expect(snippets.pop(), 'the last one shows limits').to.include('limits:');
    expect(snippets).to.have.length(11);
    for (const snippet of snippets) {
      const blocks = (parse(snippet) as { blocks?: object }).blocks ?? (parse(snippet) as object);
      for (const block of Object.values(blocks) as object[]) {
        expect(
          [...components.keys()].some((name) => name in block),
          JSON.stringify(block),
        ).to.equal(true);
        expect(validate({ id: 'a', start: 'b', blocks: { b: block } }), JSON.stringify(block)).to.equal(true);
      }
    }
  });
});

describe('component pages', () => {
  it('of the call operations are what they make together (else: node components/docs/write.ts)', async () => {
    const folder = path.join(projectFolder, 'components/operation');
    const introduction = await readFile(path.join(folder, 'introduction.md'), 'utf8');
    expect(await readFile(path.join(folder, 'README.md'), 'utf8')).to.equal(operationsPage(components, introduction));
    const [, example = ''] = /```yaml\n([^]*?)```/.exec(introduction) ?? [];
    expect([...program(example).blocks.values()].some(({ component }) => isOperation(component))).to.equal(true);
  });

  for (const component of [...components.values()].filter((each) => !isOperation(each))) {
    const folder = path.join(projectFolder, 'components', component.name);

    it(`${component.name}: the README is what index.ts and example.yaml make (else: node components/docs/write.ts)`, async () => {
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
