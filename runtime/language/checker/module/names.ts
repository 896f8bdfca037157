import type { Program } from 'acorn';
import { suggestName } from '../../problem.ts';
import { checkEndlessLoops } from '../flow/endless-loops.ts';
import { nameOf } from './literals.ts';
import { defaultExport } from './walk.ts';
import type { Names, Reference } from '../names/scopes.ts';
import { type Report, checkNames, checkTexts, fieldOf, insteadOfElsewhere } from '../names/unknown-names.ts';

export interface ModuleNamesOptions {
  /** Names of the platform's functions, e.g. `call.play`. */
  readonly functions: readonly string[];
  /** The declared parameters; undefined: the module accepts any. */
  readonly parameters?: readonly string[] | undefined;
  /** True where imports are checked elsewhere. */
  readonly mayImport: boolean;
  /** True for a module that scenarios import: it has no call of its own. */
  readonly isShared?: boolean;
}

/**
 * Checks the names in a module: unknown names, uses before a value, undeclared parameters, and endless loops.
 */
export function checkModuleNames(
  program: Program,
  names: Names,
  { functions, parameters, mayImport, isShared = false }: ModuleNamesOptions,
  report: Report,
): void {
  const platform = new Set(['call', ...functions.map((name) => name.split('.', 1)[0] ?? '')]);
  if (isShared) platform.delete('call');
  const instead = (reference: Reference): string | undefined => {
    const method = functions.find((name) => name.endsWith(`.${reference.node.name}`));
    if (isShared && reference.node.name === 'call') return 'give it to the function as an argument';
    return insteadOfElsewhere(reference) ?? (method === undefined ? undefined : `write ${method}(...)`);
  };
  checkNames(names, { platform, assigningDeclares: false, mayImport, instead, report });
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
