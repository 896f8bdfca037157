/** Removes secrets, and DTMF digits of dialled numbers, from logged bodies. */

const REDACTED = '[redacted]';
const SECRETS: ReadonlySet<string> = new Set([
  'pwd',
  'old_pwd',
  'password',
  'token',
  'session_token',
  'secret',
  'dtmf',
]);
/** Dialled numbers, which may carry a DTMF tail behind the first `'` or `,`. */
const NUMBERS: ReadonlySet<string> = new Set(['to', 'referto']);
const DTMF_TAIL = /[',].*$/s;
const MAX_DEPTH = 6;

/** A copy of a request body for the log. */
export function redactBody(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => redactBody(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactMember(key, item, depth + 1)]));
}

function redactMember(key: string, value: unknown, depth: number): unknown {
  const name = key.toLowerCase();
  if (SECRETS.has(name)) return REDACTED;
  if (NUMBERS.has(name) && typeof value === 'string')
    return value.replace(DTMF_TAIL, (tail) => `${tail[0]}${REDACTED}`);
  return redactBody(value, depth);
}
