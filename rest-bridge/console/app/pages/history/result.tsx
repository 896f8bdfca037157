/** How a call ended. */
import { words } from '../../words/history.ts';

export const RESULTS = [
  'answered',
  'busy',
  'no_answer',
  'cancelled',
  'rejected',
  'redirected',
  'unreachable',
  'unknown_number',
  'replaced',
  'failed',
  'node_died',
] as const;

const BAD: readonly string[] = ['failed', 'node_died', 'unreachable', 'rejected'];

export function ResultBadge({ result }: { readonly result: string }) {
  const kind = result === 'answered' ? 'good' : BAD.includes(result) ? 'bad' : 'warn';
  const known = RESULTS.find((each) => each === result);
  return <span class={`badge ${kind}`}>{known === undefined ? result : words(known)}</span>;
}
