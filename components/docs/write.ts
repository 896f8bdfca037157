/**
 * Writes the README.md of every component folder, of all call operations together, and the lists in docs/scenarios/components.md
 * and docs/scenarios/errors.md: `node components/docs/write.ts`.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { components } from '../../runtime/component-registry/index.ts';
import { withErrorList } from './error-list.ts';
import { componentPage, isOperation, operationsPage, withComponentList } from './page.ts';

for (const component of components.values()) {
  if (isOperation(component)) continue;
  const folder = path.resolve(import.meta.dirname, '..', component.name);
  const example = await readFile(path.join(folder, 'example.yaml'), 'utf8');
  await writeFile(path.join(folder, 'README.md'), componentPage(component, example));
}
const operation = path.resolve(import.meta.dirname, '../operation');
const introduction = await readFile(path.join(operation, 'introduction.md'), 'utf8');
await writeFile(path.join(operation, 'README.md'), operationsPage(components, introduction));
const list = path.resolve(import.meta.dirname, '../../docs/scenarios/components.md');
await writeFile(list, withComponentList(await readFile(list, 'utf8'), components));
const errors = path.resolve(import.meta.dirname, '../../docs/scenarios/errors.md');
await writeFile(errors, withErrorList(await readFile(errors, 'utf8'), components));
