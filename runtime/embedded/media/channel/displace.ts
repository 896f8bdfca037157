/** Sounds over a channel's own audio (`uuid_displace`). */
import { frameSamples, rateOf } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import { RateConverter } from '../audio/rate-converter.ts';
import type { AudioSource } from '../audio/source.ts';
import type { Overlay } from './audio.ts';
import type { Channel } from './channel.ts';

/** `uuid_displace`: a sound that replaces or is mixed into what a channel's far end hears. */
class Displacement implements Overlay {
  readonly shared = true;
  readonly #source: AudioSource;
  readonly #mux: boolean;
  readonly #frame: Int16Array;
  readonly #converter = new RateConverter();
  #samplesLeft: number;

  constructor(source: AudioSource, limitSeconds: number, mux: boolean) {
    this.#source = source;
    this.#mux = mux;
    this.#frame = new Int16Array(frameSamples(source.rate));
    this.#samplesLeft = limitSeconds > 0 ? limitSeconds * source.rate : Number.POSITIVE_INFINITY;
  }

  apply(samples: Int16Array): boolean {
    const count = this.#source.read(this.#frame);
    if (count === 0) return false;
    this.#frame.fill(0, count);
    // The leg may have another codec by now.
    const sound = this.#converter.convert(this.#frame, rateOf(samples));
    if (this.#mux) mixInto(samples, sound);
    else samples.set(sound);
    this.#samplesLeft -= count;
    return this.#samplesLeft > 0 && !this.#source.exhausted;
  }
}

/**
 * Starts a displacement; it replaces an earlier one.
 *
 * @param limitSeconds length in seconds; 0 for the whole sound
 * @param mux whether to mix the sound with the channel's own audio
 * @throws SoundNotFoundError
 */
export async function startDisplacement(
  channel: Channel,
  name: string,
  limitSeconds: number,
  mux: boolean,
): Promise<void> {
  const displacement = new Displacement(await channel.core.sounds.open(name, channel.audio.rate), limitSeconds, mux);
  if (channel.ended) return;
  stopDisplacement(channel);
  running.set(channel, channel.audio.overlay(displacement));
}

/** Functions that remove the displacement of a channel. A finished one has removed itself. */
const running = new WeakMap<Channel, () => void>();

/** Ends the displacement of a channel. Returns false without one. */
export function stopDisplacement(channel: Channel): boolean {
  const stop = running.get(channel);
  running.delete(channel);
  stop?.();
  return stop !== undefined;
}
