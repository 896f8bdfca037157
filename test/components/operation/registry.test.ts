import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../../components/index.ts';
import { parseParameters } from '../../../components/operation/parameters.ts';
import { operations } from '../../../components/operation/registry.ts';
import { withSelectors } from '../../../components/operation/target.ts';
import { openScenarioLibrary } from '../../../runtime/interpreter/library.ts';
import { silentLog } from '../../interpreter/support.ts';

const service = path.resolve(import.meta.dirname, '../../../scenarios/service');
const library = openScenarioLibrary({ folders: [service], components, log: silentLog });

describe('every call operation', () => {
  for (const { name, scenario, example, parameters, target } of operations) {
    it(`${name}: has its scenario, and an example that fits its parameters`, async () => {
      if (scenario !== undefined) expect(await (await library).program(scenario), scenario).not.to.equal(undefined);
      const schema = target === 'none' ? parameters : withSelectors(parameters);
      expect(parseParameters(schema, example)).to.deep.equal(example);
      expect(components.has(`operation.${name}`)).to.equal(true);
    });
  }
});
