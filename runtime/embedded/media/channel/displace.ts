import { FRAME_SAMPLES, SAMPLE_RATE } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import type { AudioSource } from '../audio/source.ts';
import type { Overlay } from './audio.ts';
import type { Channel } from './channel.ts';

/** A sound put over what a channel hears, whatever its application sends: `uuid_displace`. */
class Displacement implements Overlay {
  readonly shared = true;
  readonly #source: AudioSource;
  readonly #mux: boolean;
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #samplesLeft: number;

  constructor(source: AudioSource, limitSeconds: number, mux: boolean) {
    this.#source = source;
    this.#mux = mux;
    this.#samplesLeft = limitSeconds > 0 ? limitSeconds * SAMPLE_RATE : Number.POSITIVE_INFINITY;
  }

  apply(samples: Int16Array): boolean {
    const count = this.#source.read(this.#frame);
    if (count === 0) return false;
    this.#frame.fill(0, count);
    if (this.#mux) mixInto(samples, this.#frame);
    else samples.set(this.#frame);
    this.#samplesLeft -= count;
    return this.#samplesLeft > 0 && !this.#source.exhausted;
  }
}

/**
 * Starts a sound over what the channel hears; another one is replaced.
 *
 * @param limitSeconds 0 for the whole sound
 * @param mux whether what is heard besides goes on under it
 * @throws SoundNotFoundError
 */
export async function startDisplacement(
  channel: Channel,
  name: string,
  limitSeconds: number,
  mux: boolean,
): Promise<void> {
  const displacement = new Displacement(await channel.core.sounds.open(name), limitSeconds, mux);
  if (channel.ended) return;
  stopDisplacement(channel);
  running.set(channel, channel.audio.overlay(displacement));
}

/** What takes a channel's sound off; a sound that is over has taken itself off. */
const running = new WeakMap<Channel, () => void>();

/** Ends it. Returns false when there was none. */
export function stopDisplacement(channel: Channel): boolean {
  const stop = running.get(channel);
  running.delete(channel);
  stop?.();
  return stop !== undefined;
}
