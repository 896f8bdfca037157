/** The digits that end an application. */
import type { Channel } from '../channel/channel.ts';

/** Digits that end playing, unless the variable `playback_terminators` is set. */
const DEFAULT_TERMINATORS = '*';

/** Whether a digit ends playing or recording on this channel. */
export function isTerminator(channel: Channel, digit: string): boolean {
  const terminators = channel.get('playback_terminators') ?? DEFAULT_TERMINATORS;
  if (terminators === 'none') return false;
  return terminators === 'any' || terminators.includes(digit);
}
