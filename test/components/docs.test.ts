import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { componentPage } from '../../components/docs/page.ts';
import { components } from '../../components/index.ts';
import { program, projectFolder, simulate } from '../interpreter/support.ts';

describe('component pages', () => {
  for (const component of components.values()) {
    const folder = path.join(projectFolder, 'components', component.name);

    it(`${component.name}: the README is what index.ts and example.yaml make (else: node components/docs/write.ts)`, async () => {
      const example = await readFile(path.join(folder, 'example.yaml'), 'utf8');
      expect(await readFile(path.join(folder, 'README.md'), 'utf8')).to.equal(componentPage(component, example));
    });

    it(`${component.name}: the example has no mistakes, uses the component, and runs`, async () => {
      const example = program(await readFile(path.join(folder, 'example.yaml'), 'utf8'));
      expect([...example.blocks.values()].map((block) => block.component.name)).to.include(component.name);
      const args = Object.fromEntries(example.parameters.map(({ name }) => [name, '101']));
      const direction = example.parameters.length > 0 ? 'outgoing' : 'incoming';
      const { outcome } = await simulate(example, { direction, presses: ['1'] }, { args });
      expect(outcome.error).to.equal(undefined);
      expect(outcome.status).to.equal('completed');
    });
  }
});
