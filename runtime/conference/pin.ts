import { collectDigits, type MediaEndpoint } from '../media/index.ts';
import type { RoomSettings } from './settings.ts';

/** How often somebody may try. */
const ATTEMPTS = 3;
const FIRST_DIGIT_MS = 10_000;
const NEXT_DIGIT_MS = 4000;

/** Whether a room asks whoever comes for a PIN. */
export function asksForPin({ pin, moderatorPin }: RoomSettings): boolean {
  return pin !== '' || moderatorPin !== '';
}

/**
 * Asks a caller for the room's PIN; `#` ends the input. Without a PIN for everybody, giving none makes a guest.
 * @returns undefined after three wrong ones
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
    // The # behind digits that were complete without it.
    if (full && given.digits === '' && given.reason === 'terminator') given = await ask();
    const { digits } = given;
    if (digits !== '' && digits === moderatorPin) return 'moderator';
    if (digits === pin) return 'guest';
    full = digits.length === longest;
  }
  return undefined;
}
