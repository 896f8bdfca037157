/** Sends parties to other nodes. */
import { answer } from '../../signalling/index.ts';
import type { Errand, Outcome } from '../placing/errands.ts';
import type { FarPhones } from '../lines/far-phones.ts';
import type { MovableLeg, MovedPhone } from '../legs/moved-phone.ts';
import type { NodeLink } from '../lines/node-link.ts';

/** Request to take a party, with its errand. */
export const TAKE = 'calls.take';
/** Milliseconds for an errand: the phone may get a re-INVITE, which is repeated for 32 s. */
const TAKE_MS = 60_000;
/** The same of one that leads to a scenario, which may ring for an hour, twice. The end of its node is noticed at once. */
const SCENARIO_MS = 7_500_000;
/** Added to the version of a session description when the other node died: it may have sent newer ones. */
const VERSIONS = 16;

/** A party with its errand, as the other node gets it. */
export interface Sent {
  readonly phone: MovedPhone;
  readonly errand: Errand;
}

export class Sender {
  readonly #link: NodeLink;
  readonly #phones: FarPhones;
  /** Calls that other nodes are asked to place, with their phones here. */
  readonly #placing = new Map<string, string>();
  /** Calls that came back from dead nodes, until somebody has taken care of all that the node had. */
  readonly #back = new Map<string, string>();

  constructor(link: NodeLink, phones: FarPhones) {
    this.#link = link;
    this.#phones = phones;
    const forget = (node: string): void => {
      for (const [call, from] of this.#back) if (from === node) this.#back.delete(call);
    };
    link.onSettled({ settled: forget, returned: forget });
  }

  /**
   * Sends a party to another node. A party that is not taken is back at this node when this settles; a taken one has left.
   * @throws MediaError for a party that cannot go
   */
  async send(node: string, leg: MovableLeg, errand: Errand): Promise<Outcome> {
    const phone = await leg.lend(this.#phones);
    const call = errand.errand === 'place' ? errand.dialog.known.begun?.inviteid : undefined;
    if (call !== undefined) this.#placing.set(call, phone.key);
    const outcome = await this.#ask(node, { phone, errand });
    const isLost = outcome?.elsewhere === true && call !== undefined && !this.hasUnanswered(call);
    if (call !== undefined) this.#placing.delete(call);
    // It ends here, which may be before it is asked whose it is.
    const isBack = outcome?.elsewhere === true && call !== undefined && !isLost;
    if (isBack && !this.#link.isSettled(node)) this.#back.set(call, node);
    if (outcome === undefined) {
      // Nobody knows whether the other node has the call, so it ends.
      leg.drop('Node Unreachable');
      void this.#phones.end(phone);
      return { final: answer(503, undefined, true), taken: true };
    }
    // The other node answered the caller before it died: the node that takes care of its calls has this one.
    if (outcome.taken || isLost) {
      leg.leave();
      return isLost ? { final: outcome.final, taken: true } : outcome;
    }
    try {
      await leg.takeBack(this.#phones, phone, outcome.description);
    } catch {
      leg.drop('Node Unreachable');
    }
    return outcome;
  }

  /** True for a call that this node still has if the node that places it dies, or had when it died. @param inviteid of the call */
  hasUnanswered(inviteid: string): boolean {
    if (this.#back.has(inviteid)) return true;
    const key = this.#placing.get(inviteid);
    return key !== undefined && !this.#phones.homes.hasAnswered(key);
  }

  /** Asks without a leg: the party has only an INVITE. @returns undefined when nobody knows what came of it */
  async hand(node: string, sent: Sent): Promise<Outcome | undefined> {
    return await this.#ask(node, sent);
  }

  async #ask(node: string, sent: Sent): Promise<Outcome | undefined> {
    try {
      return (await this.#link.ask(node, TAKE, sent, limitOf(sent.errand))) as Outcome;
    } catch {
      if (!this.#link.gone(node).aborted) return undefined;
      const description = sent.phone.dialog?.description;
      return {
        final: answer(503, undefined, true),
        taken: false,
        elsewhere: true,
        ...(description && { description: { ...description, version: description.version + VERSIONS } }),
      };
    }
  }
}

function limitOf(errand: Errand): number {
  return errand.errand === 'place' && errand.decision.kind === 'scenario' ? SCENARIO_MS : TAKE_MS;
}
