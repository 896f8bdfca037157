/** Finds reads of parts of a field that may be missing. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { children } from './unknown-names.ts';

/** Operators of an expression that checks for a value first. */
const ASKS: ReadonlySet<string> = new Set(['?:', '&&', '||']);

/**
 * Records of which an expression reads a part of a field without checking it, such as `found` in `found.json.name`. Such a
 * read fails while the field has no value.
 * @returns by record, the first such part as written; the field where the part has no name
 */
export function lookedInto(ast: ASTNode): ReadonlyMap<string, string> {
  return asksFirst(ast) ? new Map() : new Map(partsIn(ast));
}

function asksFirst(node: ASTNode): boolean {
  const isHas = node.op === 'call' && node.args[0] === 'has';
  return isHas || ASKS.has(node.op) || children(node.args).some(asksFirst);
}

function partsIn(node: ASTNode): [string, string][] {
  const inner = children(node.args).flatMap(partsIn);
  if (node.op !== '.' && node.op !== '[]') return inner;
  const [field, part] = node.args;
  if (field.op !== '.' || field.args[0].op !== 'id') return inner;
  const [{ args: record }, name] = field.args;
  return [...inner, [record, typeof part === 'string' ? `${record}.${name}.${part}` : `${record}.${name}`]];
}
