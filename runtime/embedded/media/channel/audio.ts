/** The audio of a channel, frame by frame. */
import { FRAME_SAMPLES } from '../audio/format.ts';
import type { RtpSession } from '../rtp/session.ts';
import type { Ticker } from '../rtp/ticker.ts';

/** Longest packet that is decoded: three frames. */
const MAX_PACKET_SAMPLES = FRAME_SAMPLES * 3;

/** Scratch memory for a decoded packet, which goes into a fifo at once. */
const decoded = new Int16Array(MAX_PACKET_SAMPLES);

const SILENCE = new Int16Array(FRAME_SAMPLES);

/** A sound that is mixed into, or replaces, what a channel sends to its far end. */
export interface Overlay {
  /** Changes a frame on its way to the far end; false when the sound has ended. */
  apply(samples: Int16Array): boolean;
  /** Whether recordings and listeners also get the sound. */
  readonly shared: boolean;
}

/**
 * The audio of a channel, frame by frame. All readers (the application, recordings, listeners) get the same received
 * frame in a tick, and the same frame that the application sent.
 */
export class ChannelAudio {
  readonly #rtp: RtpSession;
  readonly #ticker: Ticker;
  // Created on demand: a call that is only bridged needs no frames.
  #fifo: Int16Array | undefined;
  #received: Int16Array | undefined;
  #written: Int16Array | undefined;
  #mixed: Int16Array | undefined;
  #fifoLength = 0;
  #readers = 0;
  #readFrame = -1;
  #hasReceived = false;
  #writtenFrame = -1;
  readonly #overlays = new Set<Overlay>();

  constructor(rtp: RtpSession, ticker: Ticker) {
    this.#rtp = rtp;
    this.#ticker = ticker;
  }

  /** Starts buffering received audio for a reader. Returns the function that stops it; call it once. */
  listen(): () => void {
    this.#readers += 1;
    if (this.#readers === 1) this.#rtp.buffer(true);
    let listening = true;
    return () => {
      if (!listening) return;
      listening = false;
      this.#readers -= 1;
      if (this.#readers > 0) return;
      this.#rtp.buffer(false);
      this.#fifoLength = 0;
    };
  }

  /** The received frame of this tick, the same for every caller; undefined when none has come. */
  read(): Int16Array | undefined {
    if (this.#readFrame !== this.#ticker.frame) {
      this.#readFrame = this.#ticker.frame;
      this.#hasReceived = this.#fill();
    }
    return this.#hasReceived ? this.#received : undefined;
  }

  /** True while an overlay is active. */
  get overlaid(): boolean {
    return this.#overlays.size > 0;
  }

  /** Adds an overlay to the sent audio. Returns the function that removes it. */
  overlay(overlay: Overlay): () => void {
    this.#overlays.add(overlay);
    return () => this.#overlays.delete(overlay);
  }

  /** Sends a frame in this slot. */
  write(samples: Int16Array): void {
    this.#written ??= new Int16Array(FRAME_SAMPLES);
    this.#written.set(samples);
    this.#writtenFrame = this.#ticker.frame;
    if (this.#overlays.size === 0) {
      this.#rtp.write(this.#written);
      return;
    }
    this.#applyOverlays(this.#written, true);
    this.#mixed ??= new Int16Array(FRAME_SAMPLES);
    this.#mixed.set(this.#written);
    this.#applyOverlays(this.#mixed, false);
    this.#rtp.write(this.#mixed);
  }

  /** Sends a frame of silence in this slot. */
  writeSilence(): void {
    if (this.#overlays.size > 0) return this.write(SILENCE);
    this.#writtenFrame = -1;
    this.#rtp.writeSilence();
  }

  /**
   * The frame that the channel sent in this slot, or in the previous one if its turn is still to come; undefined for
   * silence or no frame.
   */
  written(): Int16Array | undefined {
    return this.#writtenFrame >= this.#ticker.frame - 1 ? this.#written : undefined;
  }

  #applyOverlays(samples: Int16Array, shared: boolean): void {
    for (const overlay of this.#overlays) {
      if (overlay.shared === shared && !overlay.apply(samples)) this.#overlays.delete(overlay);
    }
  }

  #fill(): boolean {
    this.#fifo ??= new Int16Array(MAX_PACKET_SAMPLES + FRAME_SAMPLES);
    while (this.#fifoLength < FRAME_SAMPLES) {
      const count = this.#rtp.read(decoded);
      if (count === 0) return false;
      this.#fifo.set(decoded.subarray(0, count), this.#fifoLength);
      this.#fifoLength += count;
    }
    this.#received ??= new Int16Array(FRAME_SAMPLES);
    this.#received.set(this.#fifo.subarray(0, FRAME_SAMPLES));
    this.#fifo.copyWithin(0, FRAME_SAMPLES, this.#fifoLength);
    this.#fifoLength -= FRAME_SAMPLES;
    return true;
  }
}
