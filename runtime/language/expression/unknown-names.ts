/** Finds all unknown names in an expression. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { type ExpressionProblem, unknownField, unknownName } from './words.ts';
import type { Declared } from './foreign-syntax.ts';

/** Comprehensions, which declare a name for each item. */
export const COMPREHENSIONS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * All unknown names in an expression, in their order; the type check reports only the first mistake.
 * @param known true for names that need no declaration, e.g. `now`
 */
export function unknownNames(
  ast: ASTNode,
  source: string,
  declared: Declared,
  known: ReadonlySet<string>,
): ExpressionProblem[] {
  const own = new Set([...known, ...declared.variables.keys(), ...declared.records.keys(), ...ownNames(ast)]);
  const find = (node: ASTNode): ExpressionProblem[] => {
    if (node.op === 'id') return own.has(node.args) ? [] : [unknownName(node.args, node.start, source, declared)];
    const inner = children(node.args).flatMap(find);
    if (node.op !== '.' || node.args[0].op !== 'id') return inner;
    const [{ args: record }, field] = node.args;
    const fields = declared.variables.has(record) ? undefined : declared.records.get(record);
    if (fields === undefined || Object.hasOwn(fields, field)) return inner;
    return [...inner, unknownField(field, node.end - field.length, Object.keys(fields))];
  };
  return find(ast);
}

/** Names that comprehensions declare. */
function ownNames(node: ASTNode): string[] {
  const inner = children(node.args).flatMap(ownNames);
  if (node.op !== 'rcall' || !COMPREHENSIONS.has(node.args[0])) return inner;
  const [item] = node.args[2];
  return item?.op === 'id' ? [item.args, ...inner] : inner;
}

/** The child nodes in a node's `args`. */
export function children(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(children);
  return typeof args === 'object' && args !== null && 'op' in args && 'args' in args ? [args as ASTNode] : [];
}
