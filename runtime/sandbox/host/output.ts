/** Parses the output of scripts. */
import { type Json, parsePlain } from '../json.ts';
import type { LimitName } from '../limits.ts';
import { DEFAULT_LIMITS } from '../limits.ts';
import type { LogLevel } from '../sandbox.ts';

export interface LogLine {
  readonly kind: 'log';
  readonly level: LogLevel;
  readonly text: string;
}

/** One item of a script's output, as described in inside.js. */
export type OutputItem =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly args: readonly Json[] }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'keys'; readonly listens: boolean }
  | LogLine
  | { readonly kind: 'limit'; readonly limit: LimitName }
  | { readonly kind: 'heard' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'unstarted' }
  | { readonly kind: 'done'; readonly value: Json; readonly vars: Readonly<Record<string, Json>> }
  | { readonly kind: 'threw'; readonly code: string; readonly message: string; readonly stack: string };

/** Output that inside.js never produces: the process can no longer be trusted. */
export class InvalidOutputError extends Error {
  override readonly name = 'InvalidOutputError';
}

const LEVELS: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error']);

/**
 * @param body output of the isolate
 * @throws InvalidOutputError, NotPlainError
 */
export function parseOutput(body: string): OutputItem[] {
  if (body === '') return [];
  const list = parsePlain(body);
  if (!Array.isArray(list)) throw new InvalidOutputError('not a list');
  return (list as readonly Json[]).map(parseItem);
}

function parseItem(item: Json): OutputItem {
  if (!Array.isArray(item)) throw new InvalidOutputError('an item is not a list');
  const [kind, a = null, b = null, c = null] = item as readonly Json[];
  if (kind === 'call' && isId(a) && typeof b === 'string' && Array.isArray(c)) {
    return { kind, id: a, name: b, args: c as readonly Json[] };
  }
  if (kind === 'cancel' && isId(a)) return { kind, id: a };
  if (kind === 'keys' && typeof a === 'boolean') return { kind, listens: a };
  if (kind === 'log' && typeof a === 'string' && LEVELS.has(a) && typeof b === 'string') {
    return { kind, level: a as LogLevel, text: b };
  }
  if (kind === 'limit' && typeof a === 'string' && Object.hasOwn(DEFAULT_LIMITS, a)) {
    return { kind, limit: a as LimitName };
  }
  if (kind === 'heard' || kind === 'idle' || kind === 'unstarted') return { kind };
  if (kind === 'done') return { kind, value: a, vars: isObject(b) ? b : {} };
  if (kind === 'threw' && typeof a === 'string' && typeof b === 'string' && typeof c === 'string') {
    return { kind, code: a, message: b, stack: c };
  }
  throw new InvalidOutputError(`an item of an unknown kind`);
}

function isId(value: Json): value is number {
  return Number.isSafeInteger(value);
}

function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
