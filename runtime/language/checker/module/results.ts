/** Checks a module's use of the results of functions. */
import type { AnyNode, Expression, Identifier } from 'acorn';
import type { ComponentDefinition } from '../../component.ts';
import { ERROR_EXIT } from '../../component.ts';
import { nearestField } from '../../expression/words.ts';
import { suggestName } from '../../problem.ts';
import { nameOf } from './literals.ts';
import type { Names, Reference } from '../names/scopes.ts';
import { type Report, fieldOf } from '../names/unknown-names.ts';

/** The place of a name in the text. */
interface Written {
  readonly name: string | undefined;
  readonly start: number;
}

/** Fields and exits of a function's result; functions for facts have no exits. */
type Given = Pick<ComponentDefinition, 'results' | 'exits' | 'openExits'>;

/** Notes unknown result fields and impossible exits. */
export class ResultChecker {
  readonly #report: Report;
  /** Uses of constants and parameters; variables that are assigned again are not followed. */
  readonly #uses = new Map<AnyNode, Reference[]>();

  constructor(names: Names, report: Report) {
    this.#report = report;
    const changed = new Set<AnyNode>();
    for (const reference of names.references) {
      const { binding, use } = reference;
      if (!binding) continue;
      const uses = this.#uses.get(binding.node);
      if (uses) uses.push(reference);
      else this.#uses.set(binding.node, [reference]);
      if (use !== 'read') changed.add(binding.node);
    }
    for (const node of changed) this.#uses.delete(node);
  }

  /** @param around the nodes around the call, the nearest first */
  check(name: string, component: Given, [awaited, user]: readonly AnyNode[]): void {
    if (awaited?.type === 'VariableDeclarator' && awaited.id.type === 'Identifier')
      return this.#promise(name, component, awaited.id);
    if (awaited) this.#unawaited(name, component, awaited);
    if (awaited?.type !== 'AwaitExpression' || user === undefined) return;
    if (user.type === 'MemberExpression' && !user.computed && user.object === awaited)
      this.#field(name, component, { name: nameOf(user.property), start: user.property.start });
    if (user.type !== 'VariableDeclarator' || user.init !== awaited) return;
    if (user.id.type === 'Identifier') return this.#whole(name, component, user.id);
    if (user.id.type !== 'ObjectPattern') return;
    for (const property of user.id.properties) {
      if (property.type !== 'Property' || property.computed) continue;
      const field = nameOf(property.key);
      this.#field(name, component, { name: field, start: property.key.start });
      if (field === undefined || property.value.type !== 'Identifier') continue;
      for (const { node, around } of this.#uses.get(property.value) ?? [])
        if (field === 'exit') this.#exit(name, component, node, around[0]);
        else this.#type(component, field, node, around[0]);
    }
  }

  /** `const answer = await call.collect(...)`, and later reads of its fields. */
  #whole(name: string, component: Given, variable: AnyNode): void {
    for (const reference of this.#uses.get(variable) ?? []) {
      const [member, user] = reference.around;
      const field = fieldOf(reference);
      if (field === undefined && member) this.#asValue(name, component, reference.node, member);
      if (field === undefined || member === undefined) continue;
      this.#field(name, component, { name: field, start: reference.node.end + 1 });
      if (field === 'exit') this.#exit(name, component, member, user);
      else this.#type(component, field, member, user);
    }
  }

  /** `const digits = await call.collect(...)`, where the whole result is compared with a text or inserted into one. */
  #asValue(name: string, { results }: Given, node: Identifier, user: AnyNode): void {
    const isCompared = comparedWith(node, user).some((other) => other.type === 'Literal' && other.value !== null);
    const field = Object.hasOwn(results, node.name) ? node.name : Object.keys(results)[0];
    const isGoneThrough = user.type === 'ForOfStatement' && user.right === node;
    if (field === undefined || !(isCompared || isGoneThrough || user.type === 'TemplateLiteral')) return;
    const message = `"${node.name}" is the whole result of ${name}`;
    this.#report(node.start, message, `write ${node.name}.${field}, or const { ${field} } = ...`, 'warning');
  }

  /** A comparison by `===` of a text with a number. */
  #type({ results, exits }: Given, field: string, node: AnyNode, user: AnyNode | undefined): void {
    const type = results[field]?.type;
    const wanted = type === 'integer' ? 'number' : type;
    if (wanted === undefined || !['string', 'number', 'boolean'].includes(wanted) || !user) return;
    for (const other of comparedWith(node, user)) {
      const is: string = other.type === 'Literal' ? typeof other.value : wanted;
      if (!['string', 'number', 'boolean'].includes(is) || is === wanted) continue;
      const value = other.type === 'Literal' ? String(other.value) : '';
      const suggestion = Object.hasOwn(exits, value)
        ? `that is an exit: compare exit with '${value}'`
        : insteadOf(value, is, wanted);
      this.#report(other.start, `"${field}" is a ${wanted} and never equals this`, suggestion, 'warning');
    }
  }

  /** `const answer = call.collect(...)` without `await`: `answer` is a promise. */
  #promise(name: string, { results }: Given, variable: AnyNode): void {
    for (const reference of this.#uses.get(variable) ?? []) {
      const field = fieldOf(reference);
      if (field === 'exit' || (field !== undefined && Object.hasOwn(results, field)))
        this.#report(
          reference.node.end + 1,
          `"${reference.node.name}" is still a promise here, and has no "${field}"`,
          `write await ${name}(...)`,
        );
    }
  }

  /** `const { digits } = call.collect(...)` and `call.collect(...).digits` without `await`. */
  #unawaited(name: string, { results }: Given, user: AnyNode): void {
    const pattern = user.type === 'VariableDeclarator' && user.id.type === 'ObjectPattern' ? user.id.properties : [];
    const keys = pattern.flatMap((each) => (each.type === 'Property' && !each.computed ? [each.key] : []));
    const read = user.type === 'MemberExpression' && !user.computed ? [user.property] : [];
    for (const key of [...keys, ...read]) {
      const field = nameOf(key);
      if (field !== undefined && (field === 'exit' || Object.hasOwn(results, field)))
        this.#report(key.start, `${name} gives a promise, which has no "${field}"`, `write await ${name}(...)`);
    }
  }

  #field(name: string, { results, exits }: Given, { name: field, start }: Written): void {
    const known = [...(Object.keys(exits).length > 0 ? ['exit'] : []), ...Object.keys(results)];
    if (field !== undefined && !known.includes(field))
      this.#report(start, `${name} gives no "${field}"`, suggestName(nearestField(field, known) ?? field, known));
  }

  /** A comparison of an exit with a text. */
  #exit(name: string, component: Given, node: AnyNode, user: AnyNode | undefined): void {
    const texts = user ? comparedWith(node, user) : [];
    const known = Object.keys(component.exits);
    for (const text of texts) {
      if (text.type !== 'Literal' || !['string', 'number'].includes(typeof text.value)) continue;
      const exit = String(text.value);
      if (typeof text.value === 'number' && component.openExits?.pattern.test(exit) === true)
        this.#report(text.start, '"exit" is a string and never equals this', `write '${exit}'`, 'warning');
      if (known.includes(exit) || component.openExits?.pattern.test(exit) === true) continue;
      const suggestion =
        exit === ERROR_EXIT ? 'errors are thrown: write try { ... } catch (error) { ... }' : suggestName(exit, known);
      this.#report(text.start, `${name} never takes the exit "${exit}"`, suggestion, 'warning');
    }
  }
}

/** The suggestion for a literal of the wrong type; undefined: no guess. */
function insteadOf(value: string, is: string, wanted: string): string | undefined {
  if (wanted === 'string') return `write '${value}'`;
  if (is !== 'string') return undefined;
  const reads = wanted === 'number' ? /^-?\d+(\.\d+)?$/ : /^(?:true|false)$/;
  return reads.test(value)
    ? `write ${value}`
    : wanted === 'number'
      ? 'compare it with a number'
      : 'write true or false';
}

/** The values that a node is compared with. */
function comparedWith(node: AnyNode, user: AnyNode): Expression[] {
  if (user.type === 'BinaryExpression' && /^[=!]==?$/.test(user.operator))
    return [user.left === node ? user.right : (user.left as Expression)];
  if (user.type !== 'SwitchStatement' || user.discriminant !== node) return [];
  return user.cases.flatMap(({ test }) => test ?? []);
}
