/** Digits as tones in the sound, for far ends without telephone-events (RFC 4733). */
import type { FsEndpoint, FsEvent } from 'drachtio-fsmrf';

/** Whether a DTMF event is about a digit that the channel sends as a tone. FreeSWITCH reports these like received ones. */
export function isOwnTone(event: FsEvent): boolean {
  return event.getHeader('DTMF-Conversion') === 'native:inband';
}

/**
 * Has a channel find digits in what its far end says, and send digits as tones. Settles when it does; never rejects, as the end of the
 * channel is reported elsewhere.
 */
export class ToneDigits {
  #hearing: FsEndpoint | undefined;
  #speaking: FsEndpoint | undefined;
  #heard: Promise<unknown> = Promise.resolve();
  #spoken: Promise<unknown> = Promise.resolve();

  /** Whether digits in the sound are reported from now on. */
  hear(channel: FsEndpoint, on: boolean): Promise<unknown> {
    if ((this.#hearing === channel) !== on) {
      this.#hearing = on ? channel : undefined;
      this.#heard = execute(channel, on ? 'start_dtmf' : 'stop_dtmf');
    }
    return this.#heard;
  }

  /** Digits are sent as tones from now on. */
  speak(channel: FsEndpoint): Promise<unknown> {
    if (this.#speaking !== channel) {
      this.#speaking = channel;
      this.#spoken = execute(channel, 'start_dtmf_generate', 'write');
    }
    return this.#spoken;
  }
}

async function execute(channel: FsEndpoint, application: string, argument?: string): Promise<void> {
  await channel.execute(application, argument).catch(() => undefined);
}
