/** What a caller gets while phones ring: 180, or the early media of one of them (RFC 3960). */
import type { SipAnswer } from '../../signalling/index.ts';
import type { SwitchTools } from '../tools.ts';
import type { AttemptOptions } from './attempt.ts';
import type { Offers } from './offers.ts';

/** Follows the provisional answers of called phones. */
export class CallerRinging {
  readonly #tools: Pick<SwitchTools, 'dialogs' | 'failed'>;
  readonly #options: AttemptOptions;
  readonly #offers: Offers;
  /** The latest session descriptions of phones that have not answered, by Call-ID. */
  readonly #sdp = new Map<string, string>();
  /** Call-IDs of the ringing branches. */
  readonly #ringing = new Set<string>();
  #early: Promise<void> | undefined;

  constructor(tools: Pick<SwitchTools, 'dialogs' | 'failed'>, options: AttemptOptions, offers: Offers) {
    this.#tools = tools;
    this.#options = options;
    this.#offers = offers;
  }

  /** The latest session description of a phone that has not answered. */
  sdp(callId: string): string | undefined {
    return this.#sdp.get(callId);
  }

  /** Settles when the caller's media is free; never rejects. */
  async settled(): Promise<void> {
    await this.#early?.catch(() => undefined);
  }

  provisional(callId: string, provisional: SipAnswer, sdp: string | undefined): void {
    const { caller, dialog, ownSound, preAnswer } = this.#options;
    const mayHear = ownSound !== true && preAnswer === undefined;
    if (!this.#ringing.has(callId) && (provisional.status === 180 || provisional.status === 183)) {
      this.#ringing.add(callId);
      this.#tools.dialogs.ringing(dialog, callId);
    }
    if (sdp !== undefined) this.#sdp.set(callId, sdp);
    if (sdp !== undefined && this.#early === undefined && mayHear) {
      this.#early = this.#earlyMedia(callId, sdp);
      this.#early.catch((err: unknown) => this.#tools.failed(err, 'early media', caller));
    } else if (provisional.status === 180 && this.#early === undefined && ownSound !== true) {
      caller.ring();
    }
  }

  async #earlyMedia(callId: string, sdp: string): Promise<void> {
    const { caller, beforeMedia } = this.#options;
    const endpoint = this.#offers.of(callId)?.endpoint;
    const callers = await caller.prepareMedia();
    if (endpoint === undefined || callers === undefined) return;
    await endpoint.modify(sdp);
    await beforeMedia?.();
    await callers.bridge(endpoint);
    caller.earlyMedia();
  }
}
