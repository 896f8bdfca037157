import { collectDigits } from '../media/collect.ts';
import type { MediaEndpoint } from '../media/endpoint.ts';
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
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { digits } = await collectDigits(endpoint, {
      signal,
      prompt: [prompt],
      min: 1,
      max: Math.max(pin.length, moderatorPin.length),
      timeoutMs: FIRST_DIGIT_MS,
      interDigitMs: NEXT_DIGIT_MS,
      terminators: '#',
    });
    if (digits !== '' && digits === moderatorPin) return 'moderator';
    if (digits === pin) return 'guest';
  }
  return undefined;
}
