/** Faxes by T.38 from one phone of a dialog to the other. */
import { faxAnswer, faxOffer, isFax, MediaError, soundAfter } from '../../media/index.ts';
import { type ReinviteAnswer, ReinviteRefused } from '../../signalling/index.ts';
import { StateMachine } from '../../transitions/index.ts';
import type { FaxSide } from '../legs/leg.ts';
import { FAX_TRANSITIONS, type FaxEvent, type FaxState } from './fax-state.ts';

/** Milliseconds; the offerer may wait for its answer for longer than a phone takes that does as it is asked. */
const PATIENCE_MS = 10_000;

const NOT_ACCEPTABLE: ReinviteAnswer = { status: 488 };
/** RFC 3261 section 14.2: another offer is still without its answer. */
const PENDING: ReinviteAnswer = { status: 491 };

/** A party that could take a fax: its leg, which stays the same, and its phone. */
export interface FaxParty {
  readonly leg: object;
  readonly phone: FaxSide;
}

/** A party of a fax, and its phone's description of it. */
interface FaxEnd {
  readonly party: FaxParty;
  readonly sdp: string;
}

/** Lets the two phones of a dialog change between sound and a fax. Neither hears of a change that the other refuses. */
export class FaxPassing {
  readonly #state = new StateMachine<FaxState, FaxEvent>(FAX_TRANSITIONS, 'sound');
  /** The descriptions of the fax that the phones have. */
  readonly #described = new Map<object, string>();
  #ends: readonly FaxEnd[] = [];
  readonly #over = Promise.withResolvers<string>();
  /** Ends the wait for the other phone. */
  #giveUp: () => void = () => undefined;
  #returning: Promise<unknown> = Promise.resolve();
  readonly #rejoin: () => Promise<void>;
  readonly #patienceMs: number;

  /**
   * @param rejoin connects the sound of both sides, whose channels are new
   * @param patienceMs how long the offerer of a fax waits for the other phone
   */
  constructor(rejoin: () => Promise<void>, patienceMs = PATIENCE_MS) {
    this.#rejoin = rejoin;
    this.#patienceMs = patienceMs;
  }

  /** The description of the fax that a leg's phone has; undefined while it has one of sound. */
  description(leg: object): string | undefined {
    return this.#described.get(leg);
  }

  /**
   * Takes a phone's offer.
   * @param other the other party; undefined where it cannot take a fax now
   * @param sound takes the offer as one of sound
   * @param cancelled the phone takes its offer back
   * @returns the answer; undefined where it is to be taken as an offer of sound
   */
  offered(
    party: FaxParty,
    other: FaxParty | undefined,
    offer: string,
    sound: () => Promise<ReinviteAnswer>,
    cancelled?: AbortSignal,
  ): Promise<ReinviteAnswer> | undefined {
    const { state } = this.#state;
    if (state === 'asking' || state === 'returning') return Promise.resolve(PENDING);
    if (state === 'fax') return isFax(offer) ? this.#refresh(party, offer) : this.#return(party, sound);
    if (!isFax(offer)) return undefined;
    const parties = [party, other].filter((each) => each?.phone.endpoint.passesFaxes === true);
    if (state !== 'sound' || other === undefined || parties.length < 2) return Promise.resolve(NOT_ACCEPTABLE);
    // The other phone hears nothing of an offer that nobody waits for.
    if (cancelled?.aborted === true) return Promise.resolve(NOT_ACCEPTABLE);
    return this.#ask(party, other, offer, cancelled);
  }

  /** Has both phones go back to sound, before the call parts them. Never rejects. */
  async end(): Promise<void> {
    this.#giveUp();
    await this.#returning;
    if (this.#state.step('sound') === undefined) return;
    await Promise.all(this.#ends.map(({ party }) => this.#toSound(party)));
    this.#state.step('agreed');
  }

  /** The dialog is over. */
  over(): void {
    this.#state.step('over');
    this.#over.resolve('');
  }

  async #ask(party: FaxParty, other: FaxParty, offer: string, cancelled?: AbortSignal): Promise<ReinviteAnswer> {
    this.#state.step('fax');
    const theirs = faxOffer(offer, other.phone.endpoint.localSdp);
    const unwanted = new AbortController();
    const asked = this.#answerOf(other, theirs, unwanted.signal);
    const answer = await this.#inTime(asked, cancelled);
    if (answer === undefined) {
      unwanted.abort();
      return this.#letGo(asked, other, theirs);
    }
    if (!isFax(answer)) {
      // A phone that accepted the offer without its only stream has no sound any more.
      if (answer !== '') await this.#toSound(other, theirs);
      this.#state.step('refused');
      return NOT_ACCEPTABLE;
    }
    if (
      !(await this.#connect({ party, sdp: offer }, { party: other, sdp: answer })) ||
      this.#state.step('agreed') === undefined
    ) {
      await this.#undo(party, other, theirs);
      // `late` if the call has parted the two meanwhile.
      if (this.#state.step('refused') === undefined) this.#state.step('settled');
      return NOT_ACCEPTABLE;
    }
    this.#ends = [
      { party, sdp: offer },
      { party: other, sdp: answer },
    ];
    // Its channel may be another one now.
    const own = faxAnswer(offer, party.phone.endpoint.localSdp, answer);
    this.#described.set(party.leg, own).set(other.leg, theirs);
    return { status: 200, sdp: party.phone.describe(own) };
  }

  /** A phone's answer; empty for a refusal, and when the dialog is over. Never rejects. */
  async #answerOf({ phone }: FaxParty, offer: string, unwanted?: AbortSignal): Promise<string> {
    try {
      return await Promise.race([phone.offer(offer, unwanted), this.#over.promise]);
    } catch (error) {
      if (!(error instanceof ReinviteRefused)) phone.failed(error);
      return '';
    }
  }

  /** The answer; undefined when it does not come in time, or is not awaited any more. */
  async #inTime(answer: Promise<string>, cancelled: AbortSignal | undefined): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      this.#giveUp = () => {
        this.#state.step('given-up');
        resolve(undefined);
      };
      timer = setTimeout(this.#giveUp, this.#patienceMs);
      cancelled?.addEventListener('abort', this.#giveUp, { once: true });
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Refuses the offer. A phone whose acceptance crosses the CANCEL goes back to sound. */
  #letGo(asked: Promise<string>, other: FaxParty, offer: string): ReinviteAnswer {
    void asked.then(async (answer) => {
      if (answer !== '' && this.#state.is('late')) await this.#toSound(other, offer);
      this.#state.step('settled');
    });
    return NOT_ACCEPTABLE;
  }

  async #connect({ party: { phone }, sdp }: FaxEnd, other: FaxEnd): Promise<boolean> {
    try {
      await phone.endpoint.passFax(sdp, { endpoint: other.party.phone.endpoint, sdp: other.sdp });
      return true;
    } catch (error) {
      phone.failed(error);
      return false;
    }
  }

  async #undo(party: FaxParty, other: FaxParty, offer: string): Promise<void> {
    if (this.#state.is('ended')) return;
    const own = party.phone.endpoint.soundAgain().catch((error: unknown) => party.phone.failed(error));
    await Promise.all([own, this.#toSound(other, offer)]);
  }

  /** A phone offers its fax again, as to refresh the session, or from another address. */
  async #refresh(party: FaxParty, offer: string): Promise<ReinviteAnswer> {
    const { leg, phone } = party;
    const other = this.#ends.find((end) => end.party.leg !== leg);
    if (other === undefined || !(await this.#connect({ party, sdp: offer }, other))) return NOT_ACCEPTABLE;
    this.#ends = [{ party, sdp: offer }, other];
    return { status: 200, sdp: phone.describe(this.#described.get(leg) ?? '') };
  }

  #return(party: FaxParty, sound: () => Promise<ReinviteAnswer>): Promise<ReinviteAnswer> {
    this.#state.step('sound');
    const answer = this.#returned(party, sound);
    this.#returning = answer;
    return answer;
  }

  async #returned(party: FaxParty, sound: () => Promise<ReinviteAnswer>): Promise<ReinviteAnswer> {
    const other = this.#ends.find((end) => end.party.leg !== party.leg)?.party;
    const channel = party.phone.endpoint.uuid;
    if (other !== undefined && !(await this.#toSound(other))) {
      this.#state.step('refused');
      return NOT_ACCEPTABLE;
    }
    this.#described.delete(party.leg);
    const answer = await sound();
    // Its offer cannot be taken, but the other phone has sound already.
    if (answer.status !== 200) await this.#toSound(party);
    const isLive = this.#state.step('agreed') !== undefined;
    if (isLive && party.phone.endpoint.uuid !== channel)
      await this.#rejoin().catch((error: unknown) => party.phone.failed(error));
    return answer;
  }

  /**
   * Offers a phone the sound again, and takes its answer. Never rejects.
   * @param fax the description that it has
   * @returns false when it refuses
   */
  async #toSound({ leg, phone }: FaxParty, fax = this.#described.get(leg) ?? ''): Promise<boolean> {
    let refused = false;
    try {
      await phone.endpoint.offerSound(async (sound) => {
        const answer = await this.#answerOf({ leg, phone }, soundAfter(sound, fax));
        refused = answer === '';
        if (refused) throw new MediaError('the phone refused sound after a fax', 488);
        this.#described.delete(leg);
        return answer;
      });
      return true;
    } catch (error) {
      if (!refused) phone.failed(error);
      return false;
    }
  }
}
