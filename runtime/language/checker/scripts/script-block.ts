/** Checks the code of a `script` block. */
import { type AnyNode, type Program, type ReturnStatement, parse } from 'acorn';
import type { ComponentDefinition } from '../../component.ts';
import { checkEndlessLoops } from '../flow/endless-loops.ts';
import { childrenOf } from '../module/walk.ts';
import { type Names, type Reference, namesIn } from '../names/scopes.ts';
import { assignsVars, checkScriptVars } from './script-vars.ts';
import type { ScriptSite } from './scripts.ts';
import { type Report, checkNames, checkTexts, fieldOf, insteadOfElsewhere } from '../names/unknown-names.ts';

/** Parameters of the function around the code of a block. */
const GIVEN: ReadonlySet<string> = new Set(['vars', 'args']);
/** Functions with an effect outside the script, beside its variables and its result. */
const HEARD: ReadonlySet<string> = new Set(['log', 'console', 'events']);

/**
 * Checks the code of a `script` block: unknown names, variables that are not passed to it or cannot be assigned, a
 * missing result, and endless loops.
 * @param code without types
 * @param methods components by their names in modules
 * @throws SyntaxError, RangeError: the code cannot be parsed
 */
export function checkScriptBlock(
  code: string,
  site: ScriptSite,
  methods: ReadonlyMap<string, ComponentDefinition>,
  report: Report,
): void {
  const program = parse(code, {
    ecmaVersion: 'latest',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
  const names = namesIn(program);
  checkNames(names, {
    platform: GIVEN,
    assigningDeclares: true,
    instead: (reference) => instead(reference, site, methods),
    report,
  });
  for (const { node, binding } of names.references)
    if (node.name === 'args' && !binding)
      report(node.start, 'a script block has no arguments', 'give it values by the setting vars', 'warning');
  checkScriptVars(names, site, report);
  checkTexts(names, (name) => (isOfScenario(name, site) ? 'give it the value by the setting vars' : undefined), report);
  checkResult(program, names, site, report);
  checkEndlessLoops(program, report);
}

function isOfScenario(name: string, { scenario }: ScriptSite): boolean {
  return scenario.variables.has(name) || scenario.records.has(name);
}

/** The suggestion for a name that only the scenario or a module has. */
function instead(
  reference: Reference,
  site: ScriptSite,
  methods: ReadonlyMap<string, ComponentDefinition>,
): string | undefined {
  const { name } = reference.node;
  const field = fieldOf(reference);
  if (reference.use === 'set') return site.scenario.variables.has(name) ? `write vars.${name} = ...` : undefined;
  if (site.given?.has(name) === true) return `write vars.${name}`;
  if (site.scenario.variables.has(name)) return `write vars: { ${name}: "\${${name}}" } and read vars.${name}`;
  const component = methods.get(field === undefined ? name : `${name}.${field}`);
  if (component) return `a script block only computes: make it a block of its own, ${component.name}: ...`;
  const fields = site.scenario.records.get(name);
  if (fields) {
    const wanted = field !== undefined && Object.hasOwn(fields, field) ? field : (Object.keys(fields)[0] ?? 'value');
    return `write vars: { ${wanted}: "\${${name}.${wanted}}" } and read vars.${wanted}`;
  }
  if (name === 'fetch' || name === 'axios') return 'make it a block of its own, http: ...';
  if (name.startsWith('set') && insteadOfElsewhere(reference) !== undefined)
    return 'make it a block of its own, wait: ...';
  return insteadOfElsewhere(reference);
}

function checkResult(program: Program, names: Names, site: ScriptSite, report: Report): void {
  const returned = returnsIn(program);
  const gives = returned.find(({ argument }) => argument);
  const value = `${site.block}.value`;
  if (site.isRead && !gives) report(0, `nothing is returned, but "${value}" is read`, 'write return ...', 'warning');
  const isHeard = assignsVars(names) || names.references.some(({ node, binding }) => !binding && HEARD.has(node.name));
  if (gives && !site.isRead && !isHeard && !throws(program))
    report(
      gives.start,
      `the result is never read, and the script has no other effect`,
      `read \${${value}} in a later block, or assign to vars.NAME`,
      'warning',
    );
}

/** The `return` statements of the code itself, not those of functions in it. */
function returnsIn(node: AnyNode): ReturnStatement[] {
  if (node.type === 'ReturnStatement') return [node];
  return isFunction(node) ? [] : childrenOf(node).flatMap(returnsIn);
}

function throws(node: AnyNode): boolean {
  return node.type === 'ThrowStatement' || childrenOf(node).some(throws);
}

function isFunction({ type }: AnyNode): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';
}
