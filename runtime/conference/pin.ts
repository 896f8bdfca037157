/** Asks callers for a room's PIN. */
import { collectDigits, type MediaEndpoint } from '../media/index.ts';
import type { RoomSettings } from './settings.ts';

/** Number of attempts. */
const ATTEMPTS = 3;
const FIRST_DIGIT_MS = 10_000;
const NEXT_DIGIT_MS = 4000;

/** True when the room asks callers for a PIN. */
export function asksForPin({ pin, moderatorPin }: RoomSettings): boolean {
  return pin !== '' || moderatorPin !== '';
}

/**
 * Asks a caller for the room's PIN; `#` ends the input. Without a PIN for guests, an empty input admits the caller as a
 * guest.
 * @returns undefined after three wrong PINs
 * @throws the signal's reason; EndpointGone; MediaError
 */
export async function askForPin(
  endpoint: MediaEndpoint,
  { pin, moderatorPin }: RoomSettings,
  prompt: string,
  signal: AbortSignal,
): Promise<'guest' | 'moderator' | undefined> {
  const longest = Math.max(pin.length, moderatorPin.length);
  const ask = () =>
    collectDigits(endpoint, {
      signal,
      prompt: [prompt],
      min: 1,
      max: longest,
      timeoutMs: FIRST_DIGIT_MS,
      interDigitMs: NEXT_DIGIT_MS,
      terminators: '#',
    });
  let full = false;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let given = await ask();
    // A `#` after digits that were already complete.
    if (full && given.digits === '' && given.reason === 'terminator') given = await ask();
    const { digits } = given;
    if (digits !== '' && digits === moderatorPin) return 'moderator';
    if (digits === pin) return 'guest';
    full = digits.length === longest;
  }
  return undefined;
}
