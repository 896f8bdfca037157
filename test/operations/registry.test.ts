import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { parseParameters } from '../../runtime/operations/request/parameters.ts';
import { operations } from '../../runtime/operations/registry.ts';
import { settingsOf } from '../../runtime/operations/request/target.ts';
import { openScenarioLibrary } from '../../runtime/runs/library.ts';
import { mismatches } from '../../runtime/workbench/tests/expectations.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { readTestFile } from '../../runtime/workbench/tests/test-file.ts';
import { silentLog } from '../support/log.ts';
import { program } from '../support/scenarios.ts';

const service = path.resolve(import.meta.dirname, '../../scenarios/service');
const library = openScenarioLibrary({ folders: [service], components, log: silentLog });

describe('the table of operations', () => {
  it('has unique names, of operations on calls and on conferences', () => {
    const names = new Set(operations.map(({ name }) => name));
    expect(names.size).to.equal(operations.length);
    expect([...names]).to.include.members(['list', 'read', 'list_conferences', 'read_conference']);
  });

  it('is used by simulations: a test sets the answers of list and read', async () => {
    const scenario = program(`id: count
start: all
blocks:
  all:
    operation.list:
    next: one
  one:
    operation.read: { dialogid: "\${string(all.dialogs[0].dialogid)}" }
    next: told
  told:
    return: { status: "\${one.status}" }
`);
    const { tests, problems } = readTestFile(
      `scenario: count.yaml
tests:
  - name: reads what it lists
    operations:
      list: { dialogs: [{ dialogid: d1 }] }
      read: { dialogid: d1, status: forking }
    expect: { value: { status: forking } }
`,
      'count.test.yaml',
    );
    expect(problems).to.deep.equal([]);
    const [{ operations: answers, expect: expected }] = tests.tests as [(typeof tests.tests)[number]];
    const played = await simulate(scenario, { script: {}, components, operations: answers });
    expect(mismatches(played, expected)).to.deep.equal([]);
  });
});

describe('every operation', () => {
  for (const definition of operations) {
    const { name, scenario, example } = definition;
    it(`${name} has its scenario, a component, and an example that fits its parameters`, async () => {
      if (scenario !== undefined) expect(await (await library).program(scenario), scenario).not.to.equal(undefined);
      expect(parseParameters(settingsOf(definition), example)).to.deep.equal(example);
      expect(components.has(`operation.${name}`)).to.equal(true);
    });
  }
});
