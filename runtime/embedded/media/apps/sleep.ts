/** The application `sleep`. */
import { FRAME_MS } from '../audio/format.ts';
import { NO_RESPONSE, type ApplicationStart, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';

/** `sleep <milliseconds>`, sending silence. */
class Sleep implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  #framesLeft: number;

  constructor(channel: Channel, milliseconds: number) {
    this.#channel = channel;
    this.#framesLeft = Math.ceil(milliseconds / FRAME_MS);
  }

  tick(): boolean {
    this.#channel.audio.writeSilence();
    this.#framesLeft -= 1;
    return this.#framesLeft <= 0;
  }

  break(): void {
    this.#framesLeft = 0;
  }
}

export const sleep: ApplicationStart = (channel, data) => {
  const milliseconds = Number(/^\s*(\d{1,9})/.exec(data)?.[1] ?? 0);
  return milliseconds === 0 ? NO_RESPONSE : new Sleep(channel, milliseconds);
};
