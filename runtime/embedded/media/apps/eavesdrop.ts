import { FRAME_SAMPLES } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import { type ApplicationStart, NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import { HeardAudio } from '../channel/heard-audio.ts';

/** Hears both sides of another channel until that ends. The listener is not heard. */
class Eavesdrop implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  readonly #target: Channel;
  readonly #heard: HeardAudio;
  readonly #release: () => void;
  readonly #takeBack: () => void;
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #done = false;

  constructor(channel: Channel, target: Channel) {
    this.#channel = channel;
    this.#target = target;
    this.#heard = new HeardAudio(target);
    this.#release = target.audio.listen();
    this.#takeBack = target.onEnd(() => {
      this.#done = true;
    });
  }

  tick(): boolean {
    if (this.#done) return true;
    this.#frame.fill(0);
    const said = this.#target.audio.read();
    const heard = this.#heard.frame();
    if (said !== undefined) mixInto(this.#frame, said);
    if (heard !== undefined) mixInto(this.#frame, heard);
    this.#channel.audio.write(this.#frame);
    return false;
  }

  digit(digit: string): void {
    if (digit === '*') this.#done = true; // FreeSWITCH's key to leave
  }

  break(): void {
    this.#done = true;
  }

  end(): void {
    this.#takeBack();
    this.#heard.release();
    this.#release();
  }
}

/** `eavesdrop <uuid>`. */
export const eavesdrop: ApplicationStart = (channel, data) => {
  const target = channel.core.channels.get(data.trim());
  return target === undefined || target === channel ? NO_RESPONSE : new Eavesdrop(channel, target);
};
