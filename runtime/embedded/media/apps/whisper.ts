/** The audible side of an eavesdropper. */
import { rateOf } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import type { Overlay } from '../channel/audio.ts';
import { bridgedTo } from '../channel/bridged.ts';
import type { Channel } from '../channel/channel.ts';

/** Mixes one channel's voice into what other channels hear. */
class Voice implements Overlay {
  readonly shared = false;
  readonly #speaker: Channel;

  constructor(speaker: Channel) {
    this.#speaker = speaker;
  }

  apply(samples: Int16Array): boolean {
    const said = this.#speaker.audio.read(rateOf(samples));
    if (said !== undefined) mixInto(samples, said);
    return !this.#speaker.ended;
  }
}

/** Makes an eavesdropper heard by its target channel, and by the channel that the target is bridged to. */
export class Whisper {
  readonly #speaker: Channel;
  readonly #target: Channel;
  #toOther = false;
  #other: Channel | undefined;
  #fromTarget: (() => void) | undefined;
  #fromOther: (() => void) | undefined;
  #release: (() => void) | undefined;

  constructor(speaker: Channel, target: Channel) {
    this.#speaker = speaker;
    this.#target = target;
  }

  /** Sets who hears the eavesdropper. */
  to(target: boolean, other: boolean): void {
    this.#fromTarget?.();
    this.#fromTarget = target ? this.#over(this.#target) : undefined;
    this.#toOther = other;
    this.follow();
    if (target || other) this.#release ??= this.#speaker.audio.listen();
    else {
      this.#release?.();
      this.#release = undefined;
    }
  }

  /** Follows a change of the target's bridge. */
  follow(): void {
    const other = this.#toOther ? bridgedTo(this.#target) : undefined;
    if (other === this.#other) return;
    this.#fromOther?.();
    this.#other = other;
    this.#fromOther = other === undefined ? undefined : this.#over(other);
  }

  #over(channel: Channel): () => void {
    return channel.audio.overlay(new Voice(this.#speaker));
  }
}
