/** Checks the use of `vars` in script blocks. */
import type { AnyNode, Expression } from 'acorn';
import { suggestName } from '../../problem.ts';
import { type Value, isOfType } from '../../values.ts';
import { nameOf } from '../module/literals.ts';
import type { Names, Reference } from '../names/scopes.ts';
import type { ScriptSite } from './scripts.ts';
import { MAX_TOLD, type Report, fieldOf } from '../names/unknown-names.ts';

/** Methods that change their object. */
const CHANGING = new Set(['push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin']);

/** One use of `vars.NAME` in the code of a block. */
interface VarUse {
  readonly name: string;
  readonly start: number;
  /** `update`: read and assigned; `change`: its content is changed. */
  readonly use: 'read' | 'set' | 'update' | 'change';
  /** The assigned value. */
  readonly value?: Expression;
}

/** Notes variables that a script reads without receiving them, and assignments that cannot work. */
export function checkScriptVars(names: Names, { given, scenario }: ScriptSite, report: Report): void {
  const { uses, isOpen } = varUses(names);
  const known = new Set([...(given ?? []), ...uses.filter(({ use }) => use === 'set').map(({ name }) => name)]);
  let told = 0;
  const tell: Report = (...problem) => {
    told += 1;
    report(...problem);
  };
  for (const { name, start, use, value } of uses) {
    if (told >= MAX_TOLD) return;
    const type = scenario.variables.get(name);
    const sample = value && sampleOf(value);
    const isVariable = type !== undefined && !scenario.parameters.has(name);
    if (use === 'set' || use === 'update') {
      if (type === undefined) tell(start, `there is no variable "${name}"`, assignable(name, scenario));
      else if (!isVariable) tell(start, `"${name}" is a parameter and cannot be assigned`, 'declare a variable for it');
      else if (use === 'set' && sample !== undefined && !isOfType(sample, type))
        tell(start, `the variable "${name}" is of type ${type}`);
    } else if (use === 'change' && !isVariable && given?.has(name) === true)
      tell(start, `this changes vars.${name}, but there is no variable "${name}"`, 'work on a copy', 'warning');
    if (use === 'set' || (type === undefined && use === 'update') || isOpen || given === undefined) continue;
    if (known.has(name) && (given.has(name) || !isInFirstValue(name, start, uses))) continue;
    const near = suggestName(name, [...known]);
    const suggestion =
      type !== undefined || near === undefined || !near.startsWith('did')
        ? `write vars: { ${name}: ${type === undefined ? '...' : `"\${${name}}"`} }`
        : near;
    tell(start, `vars.${name} is not given to this script`, suggestion, 'warning');
  }
}

/** `vars.n = vars.n + 1`: true for a use within the first assigned value. */
function isInFirstValue(name: string, at: number, uses: readonly VarUse[]): boolean {
  const first = uses.find((each) => each.name === name && each.use === 'set');
  return first?.value !== undefined && first.value.start <= at && at < first.value.end;
}

/** True when the script may assign variables. */
export function assignsVars(names: Names): boolean {
  const { uses, isOpen } = varUses(names);
  return isOpen || uses.some(({ use }) => use !== 'read');
}

function assignable(name: string, { variables, parameters }: ScriptSite['scenario']): string {
  const suggestion = suggestName(
    name,
    [...variables.keys()].filter((each) => !parameters.has(each)),
  );
  return suggestion?.startsWith('did') === true ? suggestion : `declare it under variables, or write let ${name} = ...`;
}

/** @returns isOpen: `vars` is also used as a whole, or with computed names */
function varUses({ references }: Names): { readonly uses: readonly VarUse[]; readonly isOpen: boolean } {
  const uses: VarUse[] = [];
  let isOpen = false;
  for (const reference of references) {
    if (reference.node.name !== 'vars' || reference.binding) continue;
    const name = fieldOf(reference);
    const taken = name === undefined ? takenOut(reference) : [{ name, ...useOf(reference) }];
    if (taken) uses.push(...taken);
    else isOpen = true;
  }
  return { uses, isOpen };
}

/** `const { digits } = vars`; undefined: another use. */
function takenOut({ node, around: [user] }: Reference): VarUse[] | undefined {
  if (user?.type !== 'VariableDeclarator' || user.init !== node || user.id.type !== 'ObjectPattern') return undefined;
  return user.id.properties.flatMap((property) => {
    const name = property.type === 'Property' && !property.computed ? nameOf(property.key) : undefined;
    // A default means that the variable may be missing.
    const isSure = property.type === 'Property' && property.value.type !== 'AssignmentPattern';
    return name !== undefined && isSure ? [{ name, start: property.start, use: 'read' as const }] : [];
  });
}

/** The kind of use of `vars.NAME`. */
function useOf({ around: [member, user, further] }: Reference): Omit<VarUse, 'name'> {
  const start = (member as { property?: AnyNode }).property?.start ?? 0;
  if (user?.type === 'AssignmentExpression' && user.left === member)
    return user.operator === '=' ? { start, use: 'set', value: user.right } : { start, use: 'update' };
  if (user?.type === 'UpdateExpression') return { start, use: 'update' };
  if (user !== undefined && isPatternOf(user, member)) return { start, use: 'set' };
  if (user?.type === 'MemberExpression' && user.object === member) {
    const method = !user.computed && user.property.type === 'Identifier' ? user.property.name : '';
    const isCalled = further?.type === 'CallExpression' && further.callee === user && CHANGING.has(method);
    const isAssigned = further?.type === 'AssignmentExpression' && further.left === user;
    if (isCalled || isAssigned || further?.type === 'UpdateExpression') return { start, use: 'change' };
  }
  return { start, use: 'read' };
}

/** `[vars.a, vars.b] = ...`, `for (vars.a of ...)`. */
function isPatternOf(user: AnyNode, member: AnyNode | undefined): boolean {
  if (user.type === 'AssignmentPattern' || user.type === 'ForInStatement' || user.type === 'ForOfStatement')
    return user.left === member;
  return user.type === 'ArrayPattern' || user.type === 'ObjectPattern' || user.type === 'RestElement';
}

const COMPARING: ReadonlySet<string> = new Set(['==', '!=', '===', '!==', '<', '<=', '>', '>=']);

/** A sample value of an expression's certain type. */
function sampleOf(expression: Expression): Value | undefined {
  const { type } = expression;
  if (type === 'Literal') {
    const isPlain = ['string', 'number', 'boolean'].includes(typeof expression.value);
    return isPlain ? (expression.value as Value) : undefined;
  }
  if (type === 'TemplateLiteral') return 'text';
  if (type === 'ArrayExpression') return [];
  if (type === 'ObjectExpression') return {};
  const isTruth =
    (type === 'UnaryExpression' && expression.operator === '!') ||
    (type === 'BinaryExpression' && COMPARING.has(expression.operator));
  return isTruth ? true : undefined;
}
