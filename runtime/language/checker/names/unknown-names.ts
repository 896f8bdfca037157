/** Finds unknown names in scripts. */
import type { AnyNode } from 'acorn';
import { nearest } from '../../../words/index.ts';
import { SCRIPT_GLOBALS } from '../../../sandbox/index.ts';
import { KEYWORDS } from '../scripts/compile-problems.ts';
import type { Names, Reference } from './scopes.ts';

/** Notes a mistake at a character of a script. */
export type Report = (offset: number, message: string, suggestion?: string, severity?: 'warning') => void;

/** Limit of reported mistakes of one kind: comparing names takes long. */
export const MAX_TOLD = 100;

export interface NamesHere {
  /** Names of the platform, beside those that every script has. */
  readonly platform: ReadonlySet<string>;
  /** True where assigning to an undeclared name declares it, as outside of modules. */
  readonly assigningDeclares: boolean;
  /** True where imports are checked elsewhere. */
  readonly mayImport?: boolean;
  /** The suggestion for an unknown name. */
  readonly instead: (reference: Reference) => string | undefined;
  readonly report: Report;
}

/** Globals of browsers and Node.js that scripts do not have, with suggestions. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  fetch: 'write await http.request({ url, method, body })',
  axios: 'write await http.request({ url, method, body })',
  setTimeout: "write await sleep('5s')",
  setInterval: "write a loop with await sleep('5s')",
  setImmediate: 'write await Promise.resolve()',
  queueMicrotask: 'write await Promise.resolve()',
  require: 'a script has the functions of the platform, and no packages',
  module: 'write export default async function (call, args) { ... }',
  exports: 'write export default async function (call, args) { ... }',
  process: 'what a run needs comes as its arguments and secrets',
  Buffer: 'a script has texts and JSON',
  structuredClone: 'write JSON.parse(JSON.stringify(value))',
  crypto: 'a script has Math.random()',
  performance: 'a script has Date.now()',
  URL: 'write the address as a text, with encodeURIComponent(value)',
  URLSearchParams: 'write the address as a text, with encodeURIComponent(value)',
};

const BROUGHT = 'take it out: a script has the functions of the platform, and what JavaScript brings';

function insteadOfImport(name: string): string | undefined {
  if (name.startsWith('.')) return 'a script is one file: take it out; for types write import type { ... }';
  return /fetch|axios|undici|^got$|https?$/.test(name) ? ELSEWHERE['fetch'] : BROUGHT;
}

/** The suggestion for a foreign global in a module. */
export function insteadOfElsewhere({ node }: Reference): string | undefined {
  return Object.hasOwn(ELSEWHERE, node.name) ? ELSEWHERE[node.name] : undefined;
}

/**
 * Notes names that are neither declared nor global, reads before a value, and assignments to constants.
 * Names that the script tests by `typeof`, or sets on `globalThis`, are left out.
 */
export function checkNames(names: Names, here: NamesHere): void {
  for (const source of here.mayImport === true ? [] : names.imports) {
    const name = source.type === 'Literal' ? String(source.value) : undefined;
    const what = name === undefined ? '' : `, but this one imports "${name}"`;
    const instead = insteadOfImport(name ?? '');
    here.report(source.start, `a script imports nothing${what}`, instead);
  }
  if (names.open) return;
  const free = names.references.filter(
    ({ node, binding }) => !binding && !SCRIPT_GLOBALS.has(node.name) && !here.platform.has(node.name),
  );
  const asked = new Set(free.filter(({ use }) => use === 'typeof').map(({ node }) => node.name));
  for (const name of globalsMade(names)) asked.add(name);
  // Reported once, at its assignment, which declares it for later uses.
  const untold = new Set(free.filter(({ use }) => use === 'set').map(({ node }) => node.name));
  const made = new Set(untold);
  const candidates =
    free.length > 0
      ? [...SCRIPT_GLOBALS, ...here.platform, ...names.declared, ...KEYWORDS.filter(({ length }) => length > 4)].slice(
          0,
          1000,
        )
      : [];
  for (const reference of free.filter(({ node }) => !asked.has(node.name)).slice(0, MAX_TOLD)) {
    const { node, use } = reference;
    const { name, start } = node;
    const known = here.instead(reference);
    if (use !== 'set' && (known !== undefined || !made.has(name)))
      here.report(start, `there is no ${name} here`, known ?? didYouMean(name, candidates));
    if (use !== 'set' || !untold.delete(name)) continue;
    const suggestion = known ?? didYouMean(name, candidates) ?? `write let ${name} = ...`;
    here.report(start, `"${name}" is not declared`, suggestion, here.assigningDeclares ? 'warning' : undefined);
  }
  const wrong = names.references.filter(({ use, binding, early }) => early || changes(use, binding));
  for (const { node, early, around } of wrong.slice(0, MAX_TOLD)) {
    if (early) here.report(node.start, `"${node.name}" is used before it is set`, 'declare it before');
    else
      here.report(node.start, `"${node.name}" is a constant`, comparison(around) ?? `declare it by let ${node.name}`);
  }
  for (const { node, binding, around } of names.references)
    if (binding?.kind !== 'constant' && comparison(around) !== undefined)
      here.report(node.start, `this assigns to "${node.name}"`, comparison(around), 'warning');
}

/** `if (answer = '1')` */
function comparison([assignment, user]: readonly AnyNode[]): string | undefined {
  if (assignment?.type !== 'AssignmentExpression' || assignment.operator !== '=') return undefined;
  const isTest = (user?.type === 'IfStatement' || user?.type === 'ConditionalExpression') && user.test === assignment;
  return isTest && assignment.left.type === 'Identifier' && assignment.right.type === 'Literal'
    ? 'write === to compare'
    : undefined;
}

function changes(use: Reference['use'], binding: Reference['binding']): boolean {
  return binding?.kind === 'constant' && (use === 'set' || use === 'update');
}

function didYouMean(name: string, candidates: readonly string[]): string | undefined {
  const found = nearest(
    name,
    candidates.filter((each) => each !== name),
  );
  return found === undefined ? undefined : `did you mean "${found}"?`;
}

/** `globalThis.NAME = ...` declares a name for the whole script. */
function globalsMade({ references }: Names): string[] {
  return references.flatMap(({ node, around: [member] }) =>
    node.name === 'globalThis' && member?.type === 'MemberExpression' && member.property.type === 'Identifier'
      ? [member.property.name]
      : [],
  );
}

/** The field read from a reference: `digits` of `ask.digits`, also by destructuring; undefined: another use. */
export function fieldOf({ node, around: [user] }: Reference): string | undefined {
  if (user?.type !== 'MemberExpression' || user.object !== node) return undefined;
  const { property, computed } = user;
  if (!computed) return property.type === 'Identifier' ? property.name : undefined;
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined;
}

/**
 * Warns of texts that contain `${name}` but are not between backticks.
 * @param instead the suggestion for a name unknown to the script; undefined: an ordinary text
 */
export function checkTexts(names: Names, instead: (name: string) => string | undefined, report: Report): void {
  for (const { node, knows } of names.texts.slice(0, MAX_TOLD))
    for (const [, name = ''] of String(node.value).matchAll(/\$\{\s*([A-Za-z_$][\w$]*)/g)) {
      const suggestion = knows(name) ? 'put the text between backticks: `...`' : instead(name);
      if (suggestion === undefined) continue;
      report(node.start, `"\${${name}" is plain text here`, suggestion, 'warning');
      break;
    }
}
