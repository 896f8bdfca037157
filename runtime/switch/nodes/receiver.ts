/** Takes parties that other nodes send, with their errands. */
import type { DomainName } from '../../domain-name/index.ts';
import { MediaError } from '../../media/index.ts';
import type { DialogSide } from '../../runs/index.ts';
import { answer, LocalDescription, parseReplaces, type Replaces, type SipAnswer } from '../../signalling/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { type AttemptOptions, failureAnswer, failureCause } from '../placing/attempt.ts';
import { pickUp } from '../placing/pickup.ts';
import type { EnteredRoom } from '../../runs/index.ts';
import { callScenario } from '../scenarios/call-scenario.ts';
import { startEntering } from '../transfers/enter-room.ts';
import { joinArrived } from '../transfers/join-arrived.ts';
import { replaceByCall } from '../transfers/replacing-call.ts';
import { findLeg } from '../transfers/take-over.ts';
import type { SwitchTools } from '../tools.ts';
import {
  carriedIn,
  type JoinErrand,
  type Outcome,
  type PlaceErrand,
  type TakenErrand,
  toldCarried,
} from '../placing/errands.ts';
import { FarDialog, FarInvite, type FarPhone } from '../lines/far-phones.ts';
import { isMovable } from '../legs/movable-leg.ts';
import type { MovedPhone } from '../legs/moved-phone.ts';
import {
  type BroughtParty,
  ENTER,
  FETCH,
  HAS,
  type OtherNodes,
  REPLACED,
  REPLACES,
  RINGING,
  STOP,
  type WantedParty,
} from './other-nodes.ts';
import { type Sent, TAKE } from './sender.ts';

const GONE = answer(481, undefined, true);

/** Answers the requests of the other nodes about calls from now on. */
export function receive(tools: SwitchTools, others: OtherNodes): void {
  new Receiver(tools, others).serve();
}

class Receiver {
  readonly #tools: SwitchTools;
  readonly #others: OtherNodes;
  /** Attempts to call a scenario here, by dialog. */
  readonly #attempts = new Map<string, AbortController>();

  constructor(tools: SwitchTools, others: OtherNodes) {
    this.#tools = tools;
    this.#others = others;
  }

  serve(): void {
    const { link } = this.#others;
    const { dialogs } = this.#tools;
    link.serve(TAKE, (asked) => this.#take(asked as Sent));
    link.serve(FETCH, (asked) => this.#give(asked as WantedParty));
    link.serve(REPLACED, (asked) => {
      const { replaces, domain } = asked as { readonly replaces: Replaces; readonly domain: DomainName };
      const found = dialogs.findReplaced(replaces);
      if (found === undefined || !found.dialog.isOf(domain)) return null;
      const { dialog, side, ringing } = found;
      const party = dialog.leg(side)?.party;
      const account = party?.kind === 'sipuser' ? { account: party.sipUser.id } : {};
      return { dialogid: dialog.dialogid, side, ringing, ...account };
    });
    link.serve(ENTER, (asked) => this.#bringIn(asked as BroughtParty));
    link.serve(RINGING, (asked) => {
      const { domain, number } = asked as { readonly domain: DomainName; readonly number?: string };
      return dialogs.ringingAt(domain, number)?.account.ringing ?? null;
    });
    link.serve(HAS, (asked) => {
      const { dialogid } = asked as Pick<DialogSide, 'dialogid'>;
      return (dialogs.find(dialogid) ?? dialogs.parted(dialogid)) !== undefined;
    });
    link.serve(STOP, (asked) => {
      this.#attempts.get((asked as Pick<DialogSide, 'dialogid'>).dialogid)?.abort();
    });
    link.serve(REPLACES, (asked) => {
      const { dialogid, id } = asked as { readonly dialogid: string; readonly id: string };
      dialogs.find(dialogid)?.account.replaces(id);
    });
  }

  async #take({ phone, errand }: Sent): Promise<Outcome> {
    const far = await this.#others.phones.attach(phone, phone.dialog?.place);
    if (errand.errand === 'replace') return this.#replace(far, phone, errand.replaces);
    const leg = legOf(this.#tools, phone, far);
    try {
      const outcome = await this.#do(leg, errand);
      return outcome.taken ? outcome : giveBack(leg, outcome);
    } catch (error) {
      if (!(error instanceof MediaError)) this.#tools.failed(error, errand.errand, leg);
      return giveBack(leg, { final: failureAnswer(error), taken: false });
    }
  }

  #do(leg: PhoneLeg, errand: PlaceErrand | JoinErrand | TakenErrand): Promise<Outcome> {
    switch (errand.errand) {
      case 'place':
        return this.#place(leg, errand);
      case 'join':
        return joinArrived(this.#tools, leg, errand);
      case 'taken':
        return this.#others.fetched(errand.token, {
          leg,
          carried: carriedIn(errand.carried),
          from: errand.from,
          replaces: errand.replaces,
        });
      default:
        return errand satisfies never;
    }
  }

  #replace(far: FarPhone, { party, invite }: MovedPhone, replaces: string): Outcome {
    if (invite === undefined || parseReplaces(replaces) === undefined) return { final: GONE, taken: false };
    replaceByCall(this.#tools, party, new FarInvite(far, invite), replaces);
    return { final: answer(200, 'OK', true), taken: true };
  }

  async #place(leg: PhoneLeg, { dialog: start, carried, decision, options: told }: PlaceErrand): Promise<Outcome> {
    if (decision.kind === 'conference' && (await this.#others.roomOwner(decision)) !== this.#others.link.self)
      return { final: answer(503, undefined, true), taken: false, elsewhere: true };
    const dialog = this.#tools.dialogs.open({ ...start, a: leg, carried: carriedIn(carried) });
    let room: EnteredRoom | undefined;
    const options = {
      ...told,
      dialog,
      caller: leg,
      tail: [],
      onEntered: (entered: EnteredRoom) => {
        room = entered;
      },
    };
    const final = await this.#call(decision, options);
    // A caller who hung up here has left the sending node.
    const taken = final.status < 300 || dialog.ended.aborted;
    if (!taken) dialog.leave(failureCause(final));
    return { final, taken, ...(room && { room }) };
  }

  /** @returns the final answer of the callee */
  async #call(decision: PlaceErrand['decision'], options: AttemptOptions): Promise<SipAnswer> {
    switch (decision.kind) {
      case 'conference':
        return await this.#others.callRoomHere(decision, options);
      case 'pickup':
        return await pickUp(this.#tools, decision.number, options).final;
      case 'scenario': {
        const { dialogid } = options.dialog;
        const control = new AbortController();
        this.#attempts.set(dialogid, control);
        const domain = decision.domain ?? options.domain;
        const final = await callScenario(this.#tools, decision, { ...options, domain, stop: control.signal }).final;
        this.#attempts.delete(dialogid);
        return final;
      }
      default:
        return decision satisfies never;
    }
  }

  async #bringIn({ dialogid, side, domain, number, referredBy }: BroughtParty): Promise<SipAnswer> {
    const dialog = this.#tools.dialogs.find(dialogid);
    const own = dialog?.leg(side);
    const peer = own && dialog?.opposite(own);
    if (dialog === undefined || !(peer instanceof PhoneLeg)) return GONE;
    const options = { room: number, moderator: false, muted: false, referredBy };
    return await startEntering(this.#tools, dialog, peer, domain, options).transfer.final.then(({ status, reason }) =>
      answer(status, reason, true),
    );
  }

  /** Gives a party of a call here to the node that asks. */
  async #give({ side, domain, waits, node, token }: WantedParty): Promise<{ readonly status: number }> {
    const found = findLeg(this.#tools, domain, side);
    if (typeof found === 'number') return { status: found };
    const { leg, dialog: from } = found;
    if (!isMovable(leg)) return { status: 488 };
    const peer = from.opposite(leg);
    await Promise.all([from.disconnectMedia(), peer?.quiet?.()]);
    if (leg.ended || leg.owner !== from) return { status: 481 };
    const errand: TakenErrand = {
      errand: 'taken',
      token,
      carried: toldCarried(from.carried),
      from: peer?.party,
      replaces: from.inviteid,
    };
    const { taken, call, final } = await this.#others.send(node, leg, errand);
    if (!taken) {
      await stayed(from);
      return { status: final.status };
    }
    if (call !== undefined) this.#tools.dialogs.transferred(from, call);
    if (waits && from.state === 'dialog') this.#tools.dialogs.part(from, leg, false);
    else from.endWithout(leg, { by: 'transfer', status: 480, reason: 'Transferred' });
    return { status: 200 };
  }
}

function giveBack(leg: PhoneLeg, outcome: Outcome): Outcome {
  const description = leg.described;
  leg.leave();
  return { ...outcome, ...(description && { description }) };
}

async function stayed(from: CallDialog): Promise<void> {
  await from.connectMedia().catch((error: unknown) => {
    if (!from.ended.aborted) from.end(failureCause(failureAnswer(error)));
  });
}

/** The leg of a phone whose SIP dialog is at another node. */
function legOf(tools: SwitchTools, { callid, party, shownAs, allowEvents, invite, dialog }: MovedPhone, far: FarPhone) {
  if (dialog === undefined && invite === undefined) throw new MediaError('the phone is gone', 487);
  const leg =
    invite !== undefined
      ? PhoneLeg.incoming(tools, party, new FarInvite(far, invite), { callid, allowEvents })
      : PhoneLeg.arrived(tools, party, arrival(callid, far, dialog as NonNullable<typeof dialog>, allowEvents));
  leg.shownAs = shownAs;
  return leg;
}

function arrival(
  callid: string,
  far: FarPhone,
  { wish, held, description, ...sip }: NonNullable<MovedPhone['dialog']>,
  allowEvents: readonly string[],
) {
  return {
    callid,
    allowEvents,
    wish,
    held,
    sip: new FarDialog(far, sip),
    description: new LocalDescription({ ...description, version: description.version + 1 }),
  };
}
