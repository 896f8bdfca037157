import { type Node, isScalar } from 'yaml';
import type { ExpressionCompiler } from '../../expression/expression.ts';
import { suggestName } from '../../problem.ts';
import type { Value, ValueType } from '../../values.ts';
import type { Schema } from './schema.ts';
import { celFits } from '../names/static-type.ts';

/** The suggestion to write a value in the required form. */
export function otherForm(value: Value, schema: Schema): string | undefined {
  if (schema.type === 'string') return typeof value === 'string' ? undefined : 'put it in quotes if it is a text';
  if (typeof value !== 'string') return undefined;
  if (schema.type === 'boolean' && /^(yes|on|true)$/i.test(value)) return 'write true';
  if (schema.type === 'boolean' && /^(no|off|false)$/i.test(value)) return 'write false';
  if (schema.type === 'array')
    return `write [${value
      .split(',')
      .map((item) => JSON.stringify(item.trim()))
      .join(', ')}]`;
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  return isNumber && /^\d+$/.test(value) ? 'write it without quotes' : undefined;
}

/** The suggestion for an unknown variable. */
export function variableHint(key: string, variables: ReadonlyMap<string, ValueType>): string {
  const [, name = '', operator] = /^(\w+)\s*([-+*/]?)=/.exec(key) ?? [];
  if (variables.has(name)) return `write ${name}: ${operator === '' ? '...' : `"\${${name} ${operator} ...}"`}`;
  const [whole = '', ...fields] = key.split('.');
  if (fields.length > 0 && variables.has(whole)) return `a map is set as a whole: write ${whole}: { ... }`;
  return suggestName(key, [...variables.keys()]) ?? 'declare it under variables';
}

/** The suggestion for an expression that is written as a text, or with `${` in its middle. */
export function asWhole(node: Node, type: ValueType, compiler: ExpressionCompiler): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') return undefined;
  const text = node.value.replaceAll(/\$\{([^{}]*)\}/g, '$1').trim();
  const compiled = compiler.compile(text);
  const isMeant =
    'expression' in compiled && compiled.expression.names.size > 0 && celFits(compiled.expression.type, [type]);
  return isMeant ? `write "\${${text}}"` : undefined;
}

/** The suggestion for a literal of the wrong type. */
export function literalHint(value: Value, type: ValueType): string | undefined {
  if (type === 'string' && typeof value !== 'object') return 'put it in quotes';
  const isNumber =
    (type === 'integer' || type === 'number') && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
  if (isNumber) return 'write it without quotes';
  if (type === 'boolean') return 'write true or false';
  return type === 'list' && typeof value !== 'object' ? `write [${JSON.stringify(value)}]` : undefined;
}
