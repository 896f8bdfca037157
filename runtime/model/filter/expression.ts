/** The expression tree: every notation is parsed into it, and both back-ends compile it. It is fully typed. */
import type { FunctionName } from './functions.ts';

/** The literals `null` (any type) and `empty[]` (any list). */
export type ValueType = 'text' | 'number' | 'boolean' | 'json' | ListType | 'null' | 'empty[]';
export type ListType = 'text[]' | 'number[]' | 'boolean[]';

export type Expression =
  | { readonly kind: 'const'; readonly type: ValueType; readonly value: unknown }
  | {
      readonly kind: 'property';
      readonly type: ValueType;
      readonly name: string;
      /** Keys below the property; the result is JSON. */
      readonly keys: readonly string[];
    }
  | {
      readonly kind: 'call';
      readonly type: ValueType;
      readonly name: FunctionName;
      readonly args: readonly Expression[];
    }
  /** JSON cast to a plain type (null on a mismatch), or any type cast to JSON. */
  | { readonly kind: 'cast'; readonly type: ValueType; readonly value: Expression };

/** The properties that expressions may name. A `Map` suffices. */
export interface FieldTypes {
  get(name: string): ValueType | undefined;
}

/** Limits of one expression, against inputs that cost much time (decisions, "Filter functions"). */
export const LIMITS = { depth: 32, nodes: 512, pattern: 256 } as const;

export function isList(type: ValueType): type is ListType | 'empty[]' {
  return type.endsWith('[]');
}

/** Type of the elements of a list. */
export function elementOf(type: ListType): 'text' | 'number' | 'boolean' {
  return type.slice(0, -2) as 'text' | 'number' | 'boolean';
}
