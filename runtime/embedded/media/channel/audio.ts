/** The audio of a channel, frame by frame. */
import { FRAME_SAMPLES, frameSamples, type Rate, silentFrame, WIDEBAND_RATE } from '../audio/format.ts';
import { RateConverter } from '../audio/rate-converter.ts';
import type { RtpSession } from '../rtp/session.ts';
import type { Ticker } from '../rtp/ticker.ts';
import { Converted } from './converted.ts';

/** Longest packets that are decoded: three frames of G.711, and six of wideband (RFC 6716 section 3.1). */
const MAX_NARROW_SAMPLES = FRAME_SAMPLES * 3;
const MAX_WIDE_SAMPLES = frameSamples(WIDEBAND_RATE) * 6;

/** Scratch memory for a decoded packet, which goes into a fifo at once. */
const decoded = new Int16Array(MAX_WIDE_SAMPLES);

/** A sound that is mixed into, or replaces, what a channel sends to its far end. */
export interface Overlay {
  /** Changes a frame on its way to the far end, at the rate of the leg; false when the sound has ended. */
  apply(samples: Int16Array): boolean;
  /** Whether recordings and listeners also get the sound. */
  readonly shared: boolean;
}

/**
 * The audio of a channel, frame by frame, at the rate of its codec; the length of a frame says its rate. Readers may ask for another. All readers (the application, recordings, listeners) get the same received
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
  readonly #receivedConverted = new Converted();
  readonly #writtenConverted = new Converted();
  readonly #toOwnRate = new RateConverter();
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

  /** Samples a second of the leg. */
  get rate(): Rate {
    return this.#rtp.rate;
  }

  /**
   * The received frame of this tick, the same for every caller; undefined when none has come.
   * @param rate samples a second; by default that of the leg
   */
  read(rate: Rate = this.#rtp.rate): Int16Array | undefined {
    const { frame } = this.#ticker;
    if (this.#readFrame !== frame) {
      this.#readFrame = frame;
      this.#hasReceived = this.#fill();
    }
    if (!this.#hasReceived || this.#received === undefined) return undefined;
    return this.#receivedConverted.of(this.#received, frame, rate);
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

  /** Sends a frame of any rate in this slot. */
  write(samples: Int16Array): void {
    const size = frameSamples(this.#rtp.rate);
    if (this.#written?.length !== size) this.#written = new Int16Array(size);
    this.#written.set(this.#toOwnRate.convert(samples, this.#rtp.rate));
    this.#writtenFrame = this.#ticker.frame;
    if (this.#overlays.size === 0) {
      this.#rtp.write(this.#written);
      return;
    }
    this.#applyOverlays(this.#written, true);
    if (this.#mixed?.length !== size) this.#mixed = new Int16Array(size);
    this.#mixed.set(this.#written);
    this.#applyOverlays(this.#mixed, false);
    this.#rtp.write(this.#mixed);
  }

  /** Sends a frame of silence in this slot. */
  writeSilence(): void {
    if (this.#overlays.size > 0) return this.write(silentFrame(this.#rtp.rate));
    this.#writtenFrame = -1;
    this.#rtp.writeSilence();
  }

  /**
   * The frame that the channel sent in this slot, or in the previous one if its turn is still to come; undefined for
   * silence or no frame.
   * @param rate samples a second; by default that of the leg
   */
  written(rate: Rate = this.#rtp.rate): Int16Array | undefined {
    if (this.#writtenFrame < this.#ticker.frame - 1 || this.#written === undefined) return undefined;
    return this.#writtenConverted.of(this.#written, this.#writtenFrame, rate);
  }

  #applyOverlays(samples: Int16Array, shared: boolean): void {
    for (const overlay of this.#overlays) {
      if (overlay.shared === shared && !overlay.apply(samples)) this.#overlays.delete(overlay);
    }
  }

  #fill(): boolean {
    const size = frameSamples(this.#rtp.receivedRate);
    if (this.#received?.length !== size) this.#changeRate(size);
    const fifo = this.#fifo as Int16Array;
    while (this.#fifoLength < size) {
      const count = this.#rtp.read(decoded);
      if (count === 0) return false;
      fifo.set(decoded.subarray(0, count), this.#fifoLength);
      this.#fifoLength += count;
    }
    this.#received?.set(fifo.subarray(0, size));
    fifo.copyWithin(0, size, this.#fifoLength);
    this.#fifoLength -= size;
    return true;
  }

  /** Takes the memory for the first frame, or for frames of another rate. @param size samples of a frame */
  #changeRate(size: number): void {
    this.#received = new Int16Array(size);
    this.#fifo = new Int16Array(size + (size === FRAME_SAMPLES ? MAX_NARROW_SAMPLES : MAX_WIDE_SAMPLES));
    this.#fifoLength = 0;
  }
}
