/** Which of several refusals speaks for a call to several phones. */
import type { Answer } from './call-values.ts';

/**
 * The answer to pass on when every contact failed: a 6xx, else one of the lowest class. Within a class, a phone's answer
 * comes before a local one, and "busy" before others (RFC 3261 section 16.7, step 6).
 * @returns undefined without any answer
 */
export function bestAnswer<T extends Pick<Answer, 'status' | 'local' | 'unreached'>>(
  answers: readonly T[],
): T | undefined {
  const rank = ({ status, local, unreached }: T): number => {
    // An unreachable contact comes after every contact that answered.
    const kind = unreached === true ? 5 : Math.floor(status / 100);
    return (kind === 6 ? 0 : kind * 10) + (local ? 2 : 0) + (status === 486 || status === 600 ? 0 : 1);
  };
  return answers.toSorted((a, b) => rank(a) - rank(b))[0];
}
