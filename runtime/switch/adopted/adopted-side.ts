/** One phone of an adopted call, and its channel on the media server. */
import { answerFor, farEndSdp } from '../../media/index.ts';
import {
  LocalDescription,
  type ReinviteAnswer,
  type SdpOrigin,
  type SipDialog,
  type SipDialogHandlers,
} from '../../signalling/index.ts';

/** The SIP dialog of a phone: taken over, or of a living node that has it. */
export interface AdoptedPhone extends Pick<SipDialog, 'handle' | 'check' | 'bye'> {
  /** @param to the node that has it again; absent: it ends */
  leave(to?: string): void;
}

/** What neither side of an adopted call needs. */
const DEAF: Pick<SipDialogHandlers, 'answerInAck' | 'messaged' | 'refer'> = {
  answerInAck: () => undefined,
  messaged: () => undefined,
  // Nothing can be moved: the connection that controls the channel is gone.
  refer: () => ({ status: 603 }),
};

/** A phone and its channel: BYE of either ends the call, a re-INVITE of the phone goes to the channel. */
export class AdoptedSide {
  readonly #phone: AdoptedPhone;
  readonly #channel: SipDialog;
  readonly #description: LocalDescription;

  /** @param origin of the session description that the phone has */
  constructor(phone: AdoptedPhone, channel: SipDialog, origin: SdpOrigin | undefined) {
    // Any change is a new version.
    this.#description = new LocalDescription(origin && { ...origin, version: origin.version + 1 });
    this.#phone = phone;
    this.#channel = channel;
  }

  /** @param ended the phone or its channel is gone; `lost`: nobody hung up */
  handle(ended: (reason: string, lost: boolean) => void): void {
    this.#phone.handle({ ...DEAF, ended, reinvite: (sdp) => this.#renegotiate(sdp) });
    this.#channel.handle({
      ...DEAF,
      ended: () => ended('media lost', true),
      // Of the media server, after a bridge: its sound stays where it is (RFC 3261 section 14.2).
      reinvite: () => Promise.resolve({ status: 488 }),
    });
  }

  /** Takes the dialogs over at a SIP server that knows how, and asks whether the phone is there. */
  check(): void {
    this.#phone.check();
    this.#channel.check();
  }

  /** BYE to both; answers that do not come mean nothing. */
  end(): void {
    for (const dialog of [this.#phone, this.#channel]) dialog.bye().catch(() => undefined);
  }

  /** Leaves both to another node. @param to the phone's node, if it has the call again */
  leave(to?: string): void {
    this.#phone.leave(to);
    this.#channel.leave();
  }

  /** Hold, resume, refresh of the session, another address. */
  async #renegotiate(sdp: string | undefined): Promise<ReinviteAnswer> {
    if (sdp === undefined) return { status: 488 };
    try {
      const answer = await this.#channel.reinvite(farEndSdp(sdp));
      return { status: 200, sdp: this.#description.of(answerFor(sdp, answer)) };
    } catch {
      return { status: 488 };
    }
  }
}
