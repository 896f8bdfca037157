/** Filter expressions: parsed once, run in PostgreSQL or in memory with the same result. */
import { FilterError } from './errors.ts';
import type { Expression } from './expression.ts';
import { parseObjectForm } from './object-form.ts';
import { type ExpressionParser, parseCondition } from './parser.ts';
import { isObject } from './values.ts';

export { allOf, groupingToSql, Grouper, type Grouping, parseGrouping, resultTypes } from './aggregate.ts';
export { FilterError } from './errors.ts';
export { type Expression, type FieldTypes, LIMITS, type ValueType } from './expression.ts';
export type { Fragment, SqlField, SqlFields } from './fragment.ts';
export { applyMask, flatten, intersect, type Mask, parseMask } from './mask.ts';
export { First } from './first.ts';
export { compareValues, type OrderEntry, orderToSql, parseOrder, sorter, sortItems } from './order.ts';
export { ExpressionParser, type ParseContext } from './parser.ts';
export { fieldTypes, isIntegral } from './schema-types.ts';
export { type Item, toFunction, toPredicate } from './to-predicate.ts';
export { SqlCompiler } from './to-sql.ts';
export { canonical } from './values.ts';

/**
 * Reads the parameter `filter`: an array in prefix notation, or an object of conditions.
 *
 * @param path name of the parameter in errors
 * @throws FilterError
 */
export function parseFilter(parser: ExpressionParser, input: unknown, path = 'filter'): Expression {
  if (Array.isArray(input)) return parseCondition(parser, input, path);
  if (isObject(input)) return parseObjectForm(parser, input, path);
  throw new FilterError(path, 'must be an array ["name", ...] or an object {"field": condition}');
}
