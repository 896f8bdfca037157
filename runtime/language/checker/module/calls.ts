/** Checks the calls of components in a module against their settings, exits and results. */
import type { AnyNode, CallExpression, Expression, Identifier, MemberExpression, Program } from 'acorn';
import { type Node, Scalar, type YAMLMap, isMap, isScalar, isSeq } from 'yaml';
import type { ComponentDefinition, ComponentDefinitions } from '../../component.ts';
import { ExpressionCompiler } from '../../expression/expression.ts';
import { CALL_INFO, SCENARIO_INFO, methodOf, methods, usesCall } from '../../method.ts';
import { suggestName } from '../../problem.ts';
import { type Compiled, literalSettings } from '../../program.ts';
import { settingKind } from '../../setting.ts';
import { UNKNOWN, literalEntries, literalNode, nameOf, unknownNode } from './literals.ts';
import { insteadOfExit } from '../blocks/exits.ts';
import { ModuleLegs } from './legs.ts';
import { ResultChecker } from './results.ts';
import { walk } from './walk.ts';
import { type ScenarioReference, referenceIn } from '../names/references.ts';
import { BUILT_IN_RECORDS } from '../names/names.ts';
import type { Schema } from '../blocks/schema.ts';
import type { Binding, Names } from '../names/scopes.ts';
import { SettingsChecker } from '../blocks/settings.ts';
import { type Source, scalarText } from '../text/source.ts';

/** Shorter times are too short for a key or a word: seconds are meant, not milliseconds. */
const FEW_MS = 100;
const LEVELS = ['debug', 'info', 'warn', 'error'];
/** Names that `events.on` and `events.next` accept. */
const EVENTS = ['dtmf', 'hold', 'unhold', 'sip', 'message'];
const OTHERS = [
  'call.info',
  'scenario.info',
  'events.on',
  'events.next',
  ...LEVELS.map((level) => `log.${level}`),
  ...['log', ...LEVELS].map((level) => `console.${level}`),
];
/** Fields of `call.info()` and `scenario.info()`. */
const INFOS = new Map(
  [CALL_INFO, SCENARIO_INFO].map((name) => {
    const fields = Object.entries(BUILT_IN_RECORDS.get(name.replace('.info', '')) ?? {});
    const results = Object.fromEntries(fields.map(([field, type]) => [field, { type, description: '' }]));
    return [name, { results, exits: {} }] as const;
  }),
);
/** Keys that a menu in a module accepts by default. */
const KEYS = '0123456789*#ABCD'.split('');
/** What authors of modules call the list of keys that a menu accepts. */
const WORDS_FOR_EXITS = ['keys', 'choices', 'options'];
/** JavaScript that replaces components in modules. */
const IN_JAVASCRIPT: Readonly<Record<string, string>> = {
  set: 'assign to a variable',
  if: 'write if (...) { ... }',
  switch: 'write switch (...) { ... }',
  loop: 'write for (...) { ... }',
  script: 'write the code itself',
  return: 'write return ...',
  fail: 'throw new ScenarioError(code, message)',
  log: 'write log.info(...)',
};

export interface ModuleCallsOptions {
  readonly source: Source;
  readonly components: ComponentDefinitions;
  readonly promptsFolder: string;
  readonly names: Names;
  /** The first parameter of the module's function. */
  readonly call: AnyNode | undefined;
}

/**
 * Checks a module's calls of components: names of functions, settings and results, and literal values of settings.
 * Values that are computed at run time are not checked.
 * @returns the scenarios that it starts by a literal id
 */
export function checkModuleCalls(program: Program, options: ModuleCallsOptions): readonly ScenarioReference[] {
  return new CallChecker(options).check(program);
}

class CallChecker {
  readonly #source: Source;
  readonly #components: ComponentDefinitions;
  readonly #methods: ReadonlyMap<string, ComponentDefinition>;
  readonly #settings: SettingsChecker;
  /** Names of the objects with functions: `call`, `http`. */
  readonly #owners: ReadonlySet<string>;
  readonly #call: AnyNode | undefined;
  /** The declarations of names, by their uses. */
  readonly #bindings: ReadonlyMap<AnyNode, Binding | undefined>;
  readonly #results: ResultChecker;
  readonly #references: ScenarioReference[] = [];
  readonly #legs = new ModuleLegs();

  constructor({ source, components, promptsFolder, names, call }: ModuleCallsOptions) {
    this.#source = source;
    this.#components = components;
    this.#methods = methods(components);
    const compiler = new ExpressionCompiler({ variables: new Map([[UNKNOWN, 'any']]), records: new Map() });
    this.#settings = new SettingsChecker({
      source,
      compiler,
      variables: new Map(),
      promptsFolder,
      isScript: true,
      used: () => undefined,
    });
    this.#owners = new Set([...this.#methods.keys(), ...OTHERS].map((name) => name.split('.', 1)[0] ?? ''));
    this.#call = call;
    this.#bindings = new Map(names.references.map(({ node, binding }) => [node, binding]));
    this.#results = new ResultChecker(names, source.problemAt.bind(source));
    if (names.open || (call && call.type !== 'Identifier')) this.#legs.unsure();
    for (const reference of names.references) if (this.#ownerOf(reference.node) === 'call') this.#legs.owner(reference);
  }

  check(program: Program): readonly ScenarioReference[] {
    walk(program, (node, around) => {
      if (node.type === 'CallExpression') this.#function(node, around);
      if (node.type === 'MemberExpression') this.#member(node, around[0]);
      if (node.type === 'AwaitExpression') this.#uncalled(node.argument);
      if (node.type === 'ExpressionStatement') this.#uncalled(node.expression);
    });
    this.#legs.check(this.#source.problemAt.bind(this.#source));
    return this.#references;
  }

  /** `call.number`: a fact of `call.info()`, not a function. */
  #member(node: MemberExpression, user: AnyNode | undefined): void {
    if (user?.type === 'UnaryExpression' || (user?.type === 'CallExpression' && user.callee === node)) return;
    const callee = this.#callee(node);
    if (!callee || this.#methods.has(callee.name) || OTHERS.includes(callee.name)) return;
    const [owner = '', field = ''] = callee.name.split('.');
    const isFact = owner === 'call' && Object.hasOwn(BUILT_IN_RECORDS.get('call') ?? {}, field);
    const suggestion = isFact ? `write const { ${field} } = await call.info()` : undefined;
    this.#unknown(callee.name, callee.place, suggestion);
  }

  /** `await call.answer` without parentheses. */
  #uncalled(node: Expression): void {
    const callee = node.type === 'MemberExpression' ? this.#callee(node) : undefined;
    if (callee && this.#methods.has(callee.name))
      this.#source.problem(unknownNode(callee.place), `${callee.name} is not called`, `write await ${callee.name}()`);
  }

  #function(node: CallExpression, around: readonly AnyNode[]): void {
    const callee = this.#callee(node.callee as Expression);
    if (callee === undefined) return;
    const { name, place } = callee;
    const component = this.#methods.get(name);
    if (component === undefined) {
      if (!OTHERS.includes(name)) this.#unknown(name, place);
      const [user] = around;
      const isRead =
        user?.type === 'VariableDeclarator' ? user.id.type === 'ObjectPattern' : user?.type === 'MemberExpression';
      if (name.endsWith('.info') && !name.startsWith('log') && !name.startsWith('console') && isRead)
        this.#source.problem(unknownNode(place), `${name} gives a promise`, `write await ${name}()`);
      const facts = INFOS.get(name);
      if (facts && !isRead) this.#results.check(name, facts, around);
      const [event] = node.arguments;
      if ((name === 'events.on' || name === 'events.next') && event?.type === 'Literal')
        if (typeof event.value === 'string' && !EVENTS.includes(event.value))
          this.#source.problem(
            unknownNode(event),
            `there is no event "${event.value}"`,
            suggestName(event.value, EVENTS),
          );
      return;
    }
    this.#results.check(name, component, around);
    this.#legs.note(component, node);
    const [statement] = around;
    if (statement?.type === 'ExpressionStatement' && name !== 'report')
      this.#source.warning(
        unknownNode(node),
        `the module does not wait for ${name}`,
        `write await ${name}(...), or keep the promise`,
      );
    const more = node.arguments[1];
    if (more)
      this.#source.warning(unknownNode(more), `${name} takes one argument`, 'put all settings into one { ... }');
    const compiled = this.#arguments(name, component, node, unknownNode(place));
    if (compiled === undefined) return;
    const literal = literalSettings(compiled.settings);
    const given = compiled.settings.kind === 'object' ? compiled.settings.entries.keys() : Object.keys(literal);
    for (const message of component.check?.(literal, compiled.exits, new Set(given), namesLeg(node)) ?? [])
      this.#source.problem(unknownNode(place), message);
  }

  /** `call.play`, `sleep`: the declared name, and the place of its last part. */
  #callee(callee: Expression): { readonly name: string; readonly place: Identifier } | undefined {
    if (callee.type === 'Identifier') {
      const name = this.#ownerOf(callee);
      return name !== undefined && this.#methods.has(name) ? { name, place: callee } : undefined;
    }
    if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier') return undefined;
    const owner = this.#ownerOf(callee.object);
    const { property } = callee;
    if (owner === undefined || this.#methods.has(owner) || property.type !== 'Identifier') return undefined;
    return { name: `${owner}.${property.name}`, place: property };
  }

  /** The platform object behind a name: `call`, also under the module's own name for it. */
  #ownerOf(node: Identifier): string | undefined {
    const binding = this.#bindings.get(node);
    if (binding === undefined) return this.#owners.has(node.name) ? node.name : undefined;
    const isCall = binding.node === this.#call || (binding.kind === 'parameter' && node.name === 'call');
    return isCall ? 'call' : undefined;
  }

  #unknown(name: string, place: Identifier, instead?: string): void {
    const [owner = '', method = ''] = name.split('.');
    const known = [...this.#methods.keys(), ...OTHERS];
    const inYaml = method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const component =
      this.#components.get(method) ??
      this.#components.get(inYaml) ??
      [...this.#components.values()].find(({ otherNames }) => owner === 'call' && otherNames?.includes(inYaml));
    const elsewhere =
      component && (IN_JAVASCRIPT[component.name] ?? `write ${methodOf(component) ?? component.name}(...)`);
    const own = known.filter((each) => each.startsWith(`${owner}.`)).map((each) => each.slice(owner.length + 1));
    this.#source.problem(
      unknownNode(place),
      `${owner} has no "${method}"`,
      instead ?? elsewhere ?? suggestName(method, own),
    );
  }

  #arguments(
    name: string,
    component: ComponentDefinition,
    { arguments: [first] }: CallExpression,
    place: Node,
  ): { readonly settings: Compiled; readonly exits: ReadonlySet<string> } | undefined {
    const { settings: schema, shorthand } = component;
    const what = `"${name}"`;
    if (first?.type === 'SpreadElement') return undefined;
    const all = new Set([...Object.keys(component.exits), ...KEYS]);
    if (first === undefined) return asSettings(this.#settings.compile(null, schema, what, place), all);
    if (first.type === 'ObjectExpression') {
      const { map, open } = literalEntries(first);
      const exits = this.#given(map, component, name);
      this.#refer(component, map);
      const complete = open ? withUnknown(map, component) : map;
      const settings = this.#settings.compile(complete, schema, what, place);
      return open ? undefined : asSettings(settings, exits ?? all);
    }
    const single = literalNode(first);
    if (isScalar(single) && single.value === `\${${UNKNOWN}}`) return undefined;
    if (shorthand === undefined) {
      const names = Object.keys((schema as Schema).properties ?? {});
      this.#source.problem(
        single,
        `${what} takes settings${names.length === 0 ? ' of no name' : `: { ${names.join(', ')} }`}`,
      );
      return undefined;
    }
    this.#refer(component, single);
    const property = (schema as Schema).properties?.[shorthand];
    const node = property ? asDuration(single, property) : single;
    return asSettings(this.#settings.compileShorthand(node, schema, shorthand, what, place), all);
  }

  /** Removes `leg` and `exits` from the settings, as `moduleSettings` does; returns the named exits. */
  #given(map: YAMLMap, component: ComponentDefinition, method: string): ReadonlySet<string> | undefined {
    const { properties = {} } = component.settings as Schema;
    let exits: ReadonlySet<string> | undefined;
    map.items = map.items.filter((pair) => {
      const key = pair.key as Scalar;
      const name = scalarText(key);
      if (name === 'leg' && usesCall(component)) return false;
      if (component.openExits === undefined) return true;
      if (WORDS_FOR_EXITS.includes(name) && !Object.hasOwn(properties, name)) {
        this.#source.problem(
          key,
          `"${method}" has no setting "${name}"`,
          "write exits: ['1', '2'] for the keys that count",
        );
        return false;
      }
      if (name !== 'exits') return true;
      exits = this.#exits(pair.value as Node, component);
      return false;
    });
    for (const pair of map.items) {
      const key = pair.key as Scalar;
      const alias = component.aliases?.[scalarText(key)];
      if (alias !== undefined) key.value = alias;
      const property = properties[scalarText(key)];
      if (!property) continue;
      const value = asDuration(pair.value as Node, property);
      if (value !== pair.value) this.#doubtFew(pair.value as Scalar<number>, scalarText(key));
      pair.value = value;
    }
    return exits;
  }

  /** `timeout: 20` usually means seconds; `sleep(20)` means milliseconds, as elsewhere in JavaScript. */
  #doubtFew(node: Scalar<number>, name: string): void {
    const { value } = node;
    if (value <= 0 || value >= FEW_MS) return;
    this.#source.warning(
      node,
      `"${name}" is ${value} milliseconds`,
      `write '${value}s' for seconds, or '${value}ms' if that is meant`,
    );
  }

  #exits(node: Node, component: ComponentDefinition): ReadonlySet<string> | undefined {
    if (isMap(node)) this.#source.problem(node, '"exits" is the list of keys that count', "write exits: ['1', '2']");
    if (!isSeq(node)) return undefined;
    for (const item of node.items) {
      if (!isScalar(item) || item.value === `\${${UNKNOWN}}`) continue;
      const exit = scalarText(item);
      if (component.openExits?.pattern.test(exit) !== true && !(exit in component.exits))
        this.#source.problem(
          item,
          `"${component.name}" has no exit "${exit}"`,
          insteadOfExit(exit, component, Object.keys(component.exits)),
        );
    }
    return new Set(node.items.filter(isScalar).map(scalarText));
  }

  #refer(component: ComponentDefinition, node: Node): void {
    this.#references.push(...referenceIn(this.#source, component, node));
  }
}

function asSettings(compiled: Compiled | undefined, exits: ReadonlySet<string>) {
  return compiled && { settings: compiled, exits };
}

function namesLeg({ arguments: [first] }: CallExpression): boolean {
  return (
    first?.type === 'ObjectExpression' &&
    first.properties.some((each) => each.type === 'Property' && !each.computed && nameOf(each.key) === 'leg')
  );
}

/** A number as a duration is in milliseconds. */
function asDuration(node: Node, schema: Schema): Node {
  if (!isScalar(node) || typeof node.value !== 'number' || settingKind(schema) !== 'duration') return node;
  const text = new Scalar(`${node.value}ms`);
  text.range = node.range ?? null;
  return text;
}

/** Settings that computed names may provide. */
function withUnknown(map: YAMLMap, { settings }: ComponentDefinition): YAMLMap {
  const place = { start: map.range?.[0] ?? 0, end: map.range?.[1] ?? 0 };
  for (const name of Object.keys((settings as Schema).properties ?? {}))
    if (!map.items.some(({ key }) => isScalar(key) && key.value === name))
      map.set(new Scalar(name), unknownNode(place));
  return map;
}
