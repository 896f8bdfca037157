/** Converts literals of a module to YAML nodes. */
import type { Expression, ObjectExpression, PrivateIdentifier, Property, SpreadElement } from 'acorn';
import { type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';

/** Name of the variable for values that are computed at run time; it fits every type. */
export const UNKNOWN = '_';

/**
 * Converts an expression of a module to YAML nodes with the same positions, so that the checks of YAML settings apply.
 * Everything but literals becomes an expression of unknown type.
 */
export function literalNode(expression: Expression): Node {
  if (expression.type === 'ArrayExpression') {
    const items = expression.elements.map((item) =>
      item === null || item.type === 'SpreadElement' ? undefined : literalNode(item),
    );
    if (items.includes(undefined)) return unknownNode(expression);
    const list = placed(new YAMLSeq(), expression);
    list.items = items;
    return list;
  }
  if (expression.type === 'ObjectExpression') {
    const entries = literalEntries(expression);
    return entries.open ? unknownNode(expression) : entries.map;
  }
  const value = literalValue(expression);
  return value === undefined ? unknownNode(expression) : scalarNode(value, expression);
}

/** The entries of an object with literal names; `open` when it has others. */
export function literalEntries(object: ObjectExpression): { readonly map: YAMLMap; readonly open: boolean } {
  const map = placed(new YAMLMap(), object);
  let open = false;
  for (const property of object.properties) {
    const name = propertyName(property);
    if (name === undefined) open = true;
    // `{timeout: undefined}` is the same as `{}`.
    else if (!isUndefined((property as Property).value))
      map.items.push(new Pair(scalarNode(name, (property as Property).key), literalNode((property as Property).value)));
  }
  return { map, open };
}

/** The literal name of a property; undefined when it is computed. */
function propertyName(property: Property | SpreadElement): string | undefined {
  if (property.type !== 'Property' || property.computed) return undefined;
  return nameOf(property.key);
}

export function nameOf(key: Expression | PrivateIdentifier): string | undefined {
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' && ['string', 'number'].includes(typeof key.value) ? String(key.value) : undefined;
}

function isUndefined(expression: Expression): boolean {
  return expression.type === 'Identifier' && expression.name === 'undefined';
}

function literalValue(expression: Expression): string | number | boolean | null | undefined {
  if (expression.type === 'Literal') {
    const { value } = expression;
    const isPlain = value === null ? expression.raw === 'null' : ['string', 'number', 'boolean'].includes(typeof value);
    return isPlain ? (value as string | number | boolean | null) : undefined;
  }
  if (expression.type === 'TemplateLiteral' && expression.expressions.length === 0)
    return expression.quasis[0]?.value.cooked ?? undefined;
  if (expression.type !== 'UnaryExpression' || expression.operator !== '-') return undefined;
  const value = literalValue(expression.argument);
  return typeof value === 'number' ? -value : undefined;
}

function scalarNode(value: string | number | boolean | null, place: { start: number; end: number }): Scalar {
  // `${` in a module's text is not an expression of scenarios.
  const scalar = placed(new Scalar(typeof value === 'string' ? value.replaceAll('${', () => '$${') : value), place);
  scalar.type = typeof value === 'string' ? Scalar.QUOTE_SINGLE : Scalar.PLAIN;
  return scalar;
}

export function unknownNode(place: { start: number; end: number }): Scalar {
  return placed(new Scalar(`\${${UNKNOWN}}`), place);
}

function placed<T extends Node>(node: T, { start, end }: { start: number; end: number }): T {
  node.range = [start, end, end];
  return node;
}
