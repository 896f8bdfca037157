/** Finds comparisons with impossible texts: `${transfer.result == "rejcted"}`. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { misspelt } from '../words/index.ts';
import { suggestName } from './problem.ts';

type Values = readonly string[];

/** Names and fields that take one of a few texts. */
export interface KnownValues {
  readonly variables: ReadonlyMap<string, Values>;
  readonly records: RecordValues;
  /** Fields with one of these texts or one of the author's own: only a likely misspelling is reported. */
  readonly open?: RecordValues;
}

/** By record, then by field. */
export type RecordValues = ReadonlyMap<string, Readonly<Record<string, Values>>>;

/** A comparison that certainly, or most likely, always has the same result. */
export interface Doubt {
  /** Start of the compared text, counted from the beginning of the expression. */
  readonly start: number;
  readonly message: string;
  readonly suggestion?: string;
}

/** Possible results of an expression; undefined: unknown. The empty text, the value before a block has run, is left out. */
export function possibleValues(node: ASTNode, { variables, records }: KnownValues): Values | undefined {
  return node.op === 'id' ? variables.get(node.args) : fieldValues(node, records);
}

function fieldValues(node: ASTNode, records: RecordValues | undefined): Values | undefined {
  if (node.op !== '.') return undefined;
  const [owner, field] = node.args;
  const fields = owner.op === 'id' ? records?.get(owner.args) : undefined;
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
}

export function impossibleComparisons(node: ASTNode, known: KnownValues): readonly Doubt[] {
  // The item name of `list.exists(name, ...)` hides an outer name.
  if (node.op === 'rcall') return within(node.args, without(known, node.args[2]?.[0]));
  return [...comparedHere(node, known), ...within(node.args, known)];
}

function comparedHere(node: ASTNode, known: KnownValues): readonly Doubt[] {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args;
    return [...compared(left, right, known), ...compared(right, left, known)];
  }
  if (node.op !== 'in') return [];
  const [left, list] = node.args;
  return list.op === 'list' ? list.args.flatMap((item) => compared(left, item, known)) : [];
}

function compared(what: ASTNode, literal: ASTNode, known: KnownValues): Doubt[] {
  if (literal.op !== 'value' || typeof literal.args !== 'string') return [];
  const values = possibleValues(what, known);
  if (values === undefined) return doubtfulWord(literal, literal.args, fieldValues(what, known.open) ?? []);
  // A field of a block that has not run is the empty text.
  if (literal.args === '' || values.includes(literal.args)) return [];
  const suggestion = suggestName(literal.args, values);
  const message = `this is never "${literal.args}"`;
  return [{ start: literal.start, message, ...(suggestion === undefined ? {} : { suggestion }) }];
}

function doubtfulWord({ start }: ASTNode, word: string, values: Values): Doubt[] {
  const meant = values.includes(word) ? undefined : misspelt(word, values);
  return meant === undefined
    ? []
    : [{ start, message: `"${word}" is not one of the known values`, suggestion: `did you mean "${meant}"?` }];
}

function within(args: unknown, known: KnownValues): readonly Doubt[] {
  if (Array.isArray(args)) return args.flatMap((each) => within(each, known));
  const isNode = typeof args === 'object' && args !== null && 'op' in args && 'args' in args;
  return isNode ? impossibleComparisons(args as ASTNode, known) : [];
}

function without(known: KnownValues, item: ASTNode | undefined): KnownValues {
  if (item?.op !== 'id') return known;
  const [variables, records, open] = [new Map(known.variables), new Map(known.records), new Map(known.open)];
  for (const each of [variables, records, open]) each.delete(item.args);
  return { variables, records, open };
}
