import type { Transfer } from '../../runs/index.ts';
import { MediaError } from '../../media/index.ts';
import { answer, type SipAnswer } from '../../signalling/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { CallingLeg } from '../legs/leg.ts';
import { HOLD_MELODY } from '../sound/media-path.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';
import { partSound, settleTransfer } from './transfer.ts';

/** A phone on hold whose partner was taken out of their call. The partner can return to it without calling the phone. */
export class HeldParty {
  /** Their dialog, suspended while the partner is away. */
  readonly dialog: CallDialog;
  readonly #leg: PhoneLeg;
  readonly #tools: SwitchTools;
  #melody: { readonly stop: AbortController; readonly over: Promise<unknown> } | undefined;

  constructor(tools: SwitchTools, dialog: CallDialog, leg: PhoneLeg) {
    this.#tools = tools;
    this.dialog = dialog;
    this.#leg = leg;
  }

  /** True until the phone hangs up, is taken over, or has its partner back. */
  get there(): boolean {
    return this.dialog.state === 'suspended' && !this.#leg.ended;
  }

  /** Plays the hold melody until the partner is back or the phone is released; not to a phone that holds the call itself. */
  playMelody(): void {
    const { endpoint, held } = this.#leg;
    if (!this.there || this.#melody !== undefined || held || endpoint === undefined) return;
    if (!this.dialog.beginHold()) return;
    const stop = new AbortController();
    // It rejects on the abort and with the end of the channel. Both are wanted ends.
    this.#melody = { stop, over: endpoint.play(HOLD_MELODY, stop.signal).catch(() => undefined) };
  }

  /**
   * Returns the partner to the held phone.
   * @param from the partner's present dialog; it ends, or keeps the partner when the held phone is gone (480)
   */
  takeBack(from: CallDialog, partner: CallingLeg): Transfer {
    const { dialog } = this;
    const parted = partSound(this.#tools, from, partner);
    from.suspend(partner);
    const final = this.#reunite(from, partner, parted).then(async (result) => {
      await settleTransfer(from, dialog, partner, result);
      return result;
    });
    return { acallid: dialog.a.callid, dialogid: dialog.dialogid, provisional: final, final };
  }

  /** Ends the phone's call by BYE, because the partner does not return. Does nothing after its return. */
  release(): void {
    this.#melody?.stop.abort();
    if (this.dialog.state === 'suspended') this.dialog.end({ by: 'transfer', status: 480, reason: 'Transferred' });
  }

  async #reunite(from: CallDialog, partner: CallingLeg, parted: Promise<void>): Promise<SipAnswer> {
    const { dialog } = this;
    this.#melody?.stop.abort();
    await Promise.all([parted, this.#melody?.over]);
    if (partner.ended) return answer(487, undefined, true);
    if (!this.there) return answer(480, undefined, true);
    this.#tools.dialogs.transferred(from, dialog);
    // Labels may have changed meanwhile.
    dialog.bindings.clear();
    for (const label of from.bindings) dialog.bindings.add(label);
    this.#tools.dialogs.reunite(dialog, partner);
    try {
      await dialog.connectMedia();
    } catch (error) {
      // A hang-up at this moment is no failure: the partner had returned.
      if (!dialog.ended.aborted) {
        this.#tools.failed(error, 'return to a held call', partner);
        return answer(error instanceof MediaError ? error.status : 500, undefined, true);
      }
    }
    return answer(200, 'OK', false);
  }
}
