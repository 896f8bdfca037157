/** The methods of the service, and the routing of those unknown to Node's parser. */

/** Methods passed to Node unchanged. */
export const NATIVE_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/**
 * Custom methods of the specification ("Generic REST operations", "Call control"). Each also exists as
 * `POST <path>!<method in lower case>`, the form in which it reaches the router.
 */
export const CUSTOM_METHODS: ReadonlySet<string> = new Set([
  'CHECK',
  'CLEAR',
  'INVITE',
  'INVITEBYIVR',
  'LOOKUP',
  'METADATA',
  'NOTIFY',
  'REFER',
  'REFERCONF',
  'REFERREPLACES',
  'ROLLBACK',
  'SEND_DTMF',
  'SETUP',
  'SETUP_ASR',
  'SETUP_BINDINGS',
  'SETUP_RECORD',
  'STOP_HOLD_MELODY',
  'SWITCHCONF',
  'TRANSCRIBE',
]);

/** The shape of a custom method, known or not. */
export const CUSTOM_METHOD = /^[A-Z][A-Z_]{0,31}$/;

/** Suffixes that stand for a native method: `POST <path>!put` is PUT. */
export const NATIVE_SUFFIXES: ReadonlySet<string> = new Set(['put', 'patch', 'delete', 'head']);

/**
 * The target under which a custom method is routed: `LOOKUP /a?x` becomes `POST /a!lookup?x`.
 *
 * @returns undefined when the target cannot take a suffix: it has one already, or is `*`
 */
export function suffixedTarget(method: string, target: string): string | undefined {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  if (path === '*' || path.includes('!') || path.includes('%21')) return undefined;
  return `${path}!${method.toLowerCase()}${query === -1 ? '' : target.slice(query)}`;
}
