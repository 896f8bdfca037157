import { FRAME_SAMPLES } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import { type ApplicationStart, NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import { HeardAudio } from '../channel/heard-audio.ts';

/**
 * Hears another channel until that ends: both sides, or with `eavesdrop_bridge_aleg` or `eavesdrop_bridge_bleg` only what
 * its far end says or hears. The listener is not heard.
 */
class Eavesdrop implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  readonly #target: Channel;
  readonly #heard: HeardAudio;
  readonly #release: () => void;
  readonly #takeBack: () => void;
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  readonly #said: boolean;
  readonly #hears: boolean;
  readonly #keys: boolean;
  #done = false;

  constructor(channel: Channel, target: Channel) {
    this.#channel = channel;
    this.#target = target;
    const [said, hears] = [isTrue(channel, 'eavesdrop_bridge_aleg'), isTrue(channel, 'eavesdrop_bridge_bleg')];
    this.#said = said || !hears;
    this.#hears = hears || !said;
    this.#keys = channel.get('eavesdrop_enable_dtmf') === undefined || isTrue(channel, 'eavesdrop_enable_dtmf');
    this.#heard = new HeardAudio(target);
    this.#release = target.audio.listen();
    this.#takeBack = target.onEnd(() => {
      this.#done = true;
    });
  }

  tick(): boolean {
    if (this.#done) return true;
    this.#frame.fill(0);
    const said = this.#said ? this.#target.audio.read() : undefined;
    const heard = this.#hears ? this.#heard.frame() : undefined;
    if (said !== undefined) mixInto(this.#frame, said);
    if (heard !== undefined) mixInto(this.#frame, heard);
    this.#channel.audio.write(this.#frame);
    return false;
  }

  digit(digit: string): void {
    if (this.#keys && digit === '*') this.#done = true; // FreeSWITCH's key to leave
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

function isTrue(channel: Channel, name: string): boolean {
  return /^(?:true|yes|on|1)$/i.test(channel.get(name) ?? '');
}

/** `eavesdrop <uuid>`. */
export const eavesdrop: ApplicationStart = (channel, data) => {
  const target = channel.core.channels.get(data.trim());
  return target === undefined || target === channel ? NO_RESPONSE : new Eavesdrop(channel, target);
};
