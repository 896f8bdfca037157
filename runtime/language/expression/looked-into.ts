import type { ASTNode } from '@marcbachmann/cel-js';
import { children } from './unknown-names.ts';

/** What an expression that asks first has in it. */
const ASKS: ReadonlySet<string> = new Set(['?:', '&&', '||']);

/**
 * Records of whose fields an expression reads a part, such as `found` in `found.json.name`, without asking whether it is there:
 * that fails as long as the field has no value.
 * @returns by their names the first such part, as it is written; of one that has no name, the field
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
