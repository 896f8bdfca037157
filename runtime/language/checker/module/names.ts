import type { Program } from 'acorn';
import { suggestName } from '../../problem.ts';
import { checkEndlessLoops } from '../flow/endless-loops.ts';
import { nameOf } from './literals.ts';
import { defaultExport } from './walk.ts';
import type { Names, Reference } from '../names/scopes.ts';
import { type Report, checkNames, checkTexts, fieldOf, insteadOfElsewhere } from '../names/unknown-names.ts';

/**
 * Checks the names in a module: unknown names, uses before a value, undeclared parameters, and endless loops.
 * @param functions names of the platform's functions, e.g. `call.play`
 * @param parameters the declared parameters; undefined: the module accepts any
 */
export function checkModuleNames(
  program: Program,
  names: Names,
  functions: readonly string[],
  parameters: readonly string[] | undefined,
  report: Report,
): void {
  const platform = new Set(['call', ...functions.map((name) => name.split('.', 1)[0] ?? '')]);
  const instead = (reference: Reference): string | undefined => {
    const method = functions.find((name) => name.endsWith(`.${reference.node.name}`));
    return insteadOfElsewhere(reference) ?? (method === undefined ? undefined : `write ${method}(...)`);
  };
  checkNames(names, { platform, assigningDeclares: false, instead, report });
  checkTexts(names, () => undefined, report);
  checkEndlessLoops(program, report);
  const main = defaultExport(program);
  const args = typeof main === 'object' ? main.params[1] : undefined;
  if (!args || !parameters) return;
  const wrong = (name: string | undefined, start: number): void => {
    if (name !== undefined && !parameters.includes(name))
      report(start, `the scenario has no parameter "${name}"`, suggestName(name, parameters), 'warning');
  };
  const pattern = args.type === 'AssignmentPattern' ? args.left : args;
  if (pattern.type === 'ObjectPattern')
    for (const property of pattern.properties)
      if (property.type === 'Property') wrong(property.computed ? undefined : nameOf(property.key), property.start);
  for (const reference of names.references)
    if (reference.binding?.node === pattern) wrong(fieldOf(reference), reference.node.end + 1);
}
