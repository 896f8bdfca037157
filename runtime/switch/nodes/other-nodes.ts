/** Calls that lead to, or join with, what another node has. */
import { randomUUID } from 'node:crypto';
import type { DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import { MediaError } from '../../media/index.ts';
import type { DialogSide } from '../../runs/index.ts';
import { answer, type Replaces, type SipAnswer } from '../../signalling/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { CallRef } from '../dialogs/dialog-book.ts';
import type { CallingLeg } from '../legs/leg.ts';
import type { Party } from '../legs/party.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failureAnswer } from '../placing/attempt.ts';
import { callConference } from '../placing/call-conference.ts';
import { pickUp } from '../placing/pickup.ts';
import type { SwitchTools } from '../tools.ts';
import type { Elsewhere, FetchedParty, ReplacedElsewhere } from '../placing/elsewhere.ts';
import { type Errand, type JoinErrand, type Outcome, type PlaceErrand, toldCarried } from '../placing/errands.ts';
import { FarPhones, type LostPhones } from '../lines/far-phones.ts';
import { isMovable } from '../legs/movable-leg.ts';
import type { MovableLeg } from '../legs/moved-phone.ts';
import type { InviteLine } from '../lines/line.ts';
import type { NodeLink } from '../lines/node-link.ts';
import { Sender } from './sender.ts';

/** Which call has the SIP dialog of a Replaces; which call rings; which node has a dialog. */
export const REPLACED = 'calls.replaced';
export const RINGING = 'calls.ringing';
export const HAS = 'calls.has';
/** The other node sends a party of its call. */
export const FETCH = 'calls.fetch';
/** The other node's phone brings its peer into a room. */
export const ENTER = 'calls.enter';
/** A call that went to another node continues an earlier one. */
export const REPLACES = 'calls.replaces';

/** The attempt to call a scenario of the asked node is over. */
export const STOP = 'calls.stop';

/** Attempts to find the room of a number, as rooms end and begin. */
const ROOM_ATTEMPTS = 4;
const QUICK_MS = 5000;
/** Milliseconds for a party to come: its phone gets a re-INVITE, which may be repeated for 32 s. */
const FETCH_MS = 60_000;

type Placed = PlaceErrand['decision'];

/** A party of a call of the asked node, for the asking one. */
export interface WantedParty {
  readonly side: DialogSide;
  readonly domain: DomainName;
  /** Its peer waits a while to be taken too. */
  readonly waits: boolean;
  readonly node: string;
  readonly token: string;
}

/** The phone of a call of the asked node, whose peer enters a room. */
export interface BroughtParty extends DialogSide {
  readonly domain: DomainName;
  readonly number: string;
  readonly referredBy: string;
}

/** A party that has arrived, and the call that it comes from. */
export type Arrived = FetchedParty & { readonly replaces: string };

/** The way of calls to other nodes. Their SIP dialogs stay where they are. */
export class OtherNodes implements Elsewhere {
  readonly phones: FarPhones;
  readonly link: NodeLink;
  readonly #tools: SwitchTools;
  readonly #sender: Sender;
  /** Parties that were asked for, by token. */
  readonly #awaited = new Map<string, (party: Arrived) => Promise<CallRef>>();

  constructor(link: NodeLink, tools: SwitchTools, lost: LostPhones) {
    this.link = link;
    this.#tools = tools;
    this.phones = new FarPhones(link, lost);
    this.#sender = new Sender(link, this.phones);
  }

  /** Phones of this node's SIP connections whose calls are at other nodes. */
  get lent(): number {
    return this.phones.homes.count;
  }

  /** True for a call that another node is to place, and that stays here if that node dies. @param inviteid of the call */
  isPlacing(inviteid: string): boolean {
    return this.#sender.hasUnanswered(inviteid);
  }

  /** Calls a room, whichever node has it. The first caller makes it at this node. */
  callRoom(decision: RouteDecision & { readonly kind: 'conference' }, options: AttemptOptions): Attempt {
    return this.#attempt(options, async () => {
      for (let tries = 0; tries < ROOM_ATTEMPTS; tries += 1) {
        const to = decision.room === '' ? this.#tools.conferences.freshRoom(decision.featureCode) : decision.room;
        const placed = { ...decision, room: to };
        const owner = await this.roomOwner(placed);
        if (options.dialog.ended.aborted) return answer(487, undefined, true);
        if (owner === this.link.self) return await this.callRoomHere(placed, options);
        // A fresh number must not lead into the room of others.
        if (decision.room === '' && (await this.#findRoom(placed)) !== undefined) continue;
        const outcome = await this.#place(owner, placed, options);
        if (outcome.elsewhere !== true || options.dialog.ended.aborted) return outcome.final;
      }
      return answer(503, undefined, true);
    });
  }

  /** The node that has the room, or is to have it: this one, if it keeps rooms. @throws while NATS is away */
  async roomOwner(decision: Placed & { readonly kind: 'conference' }): Promise<string> {
    const { featureCode, room } = decision;
    const number = featureCode.prefix + room;
    if (this.#tools.conferences.roomAt(featureCode.domain, number) !== undefined) return this.link.self;
    if (this.#tools.keepsRooms) return await this.link.roomOwner(featureCode.domain, number);
    const owner = (await this.#findRoom(decision)) ?? this.link.withRole('conf')[0];
    if (owner === undefined) throw new MediaError('no node has the role conf', 503);
    return owner;
  }

  #findRoom({ featureCode, room }: Placed & { readonly kind: 'conference' }): Promise<string | undefined> {
    return this.link.findRoom(featureCode.domain, featureCode.prefix + room);
  }

  callScenario(decision: RouteDecision & { readonly kind: 'scenario' }, options: AttemptOptions): Attempt {
    return this.#attempt(options, async () => {
      for (const node of this.link.withRole('ivr')) {
        const outcome = await this.#placeStoppable(node, decision, options);
        if (outcome.elsewhere !== true || options.dialog.ended.aborted) return outcome.final;
      }
      return answer(503, undefined, true);
    });
  }

  async #placeStoppable(node: string, decision: Placed, options: AttemptOptions): Promise<Outcome> {
    const { stop, dialog } = options;
    if (stop?.aborted === true) return { final: answer(487, undefined, true), taken: false };
    const stopped = (): void => {
      this.link.ask(node, STOP, { dialogid: dialog.dialogid }, QUICK_MS).catch(() => undefined);
    };
    stop?.addEventListener('abort', stopped, { once: true });
    try {
      return await this.#place(node, decision, options);
    } finally {
      stop?.removeEventListener('abort', stopped);
    }
  }

  /** Calls a room of this node. */
  async callRoomHere(decision: Placed & { readonly kind: 'conference' }, options: AttemptOptions): Promise<SipAnswer> {
    const { featureCode, room } = decision;
    const final = await callConference(this.#tools, decision, options).final;
    const number = featureCode.prefix + room;
    if (this.#tools.conferences.roomAt(featureCode.domain, number) === undefined)
      this.link.releaseRoom(featureCode.domain, number);
    return final;
  }

  /** Picks up the call that has been ringing longest, whichever node has it. */
  pickUp(decision: RouteDecision & { readonly kind: 'pickup' }, options: AttemptOptions): Attempt {
    const { domain, dialog } = options;
    const { number } = decision;
    return this.#attempt(options, async () => {
      const others = await this.link.askAll<number | null>(RINGING, { domain, number });
      const own = this.#tools.dialogs.ringingAt(domain, number, dialog)?.account.ringing ?? Number.POSITIVE_INFINITY;
      const [first] = others
        .flatMap(({ id, answer: since }) => (since === null ? [] : [{ id, since }]))
        .toSorted((a, b) => a.since - b.since);
      if (first === undefined || own <= first.since) return await pickUp(this.#tools, number, options).final;
      return (await this.#place(first.id, decision, options)).final;
    });
  }

  /** The call of another node that has the phone of a Replaces. @throws while NATS is away */
  async findReplaced(replaces: Replaces, domain: DomainName): Promise<ReplacedElsewhere | undefined> {
    const answers = await this.link.askAll<Omit<ReplacedElsewhere, 'node'> | null>(REPLACED, { replaces, domain });
    const found = answers.find((each) => each.answer !== null);
    return found?.answer == null ? undefined : { node: found.id, ...found.answer };
  }

  /** Hands an INVITE with Replaces to the node that has the call; 481 without one. */
  replace(party: Party, invite: InviteLine, { wanted, value }: { wanted: Replaces; value: string }): void {
    const hand = async (): Promise<void> => {
      const found = await this.findReplaced(wanted, party.domain);
      if (found === undefined) return invite.reject(481);
      const { callId, sdp, via, source } = invite;
      const at = this.phones.homes.add({ invite });
      const headers = Object.fromEntries(
        ['Allow-Events', 'Replaces', 'Referred-By'].flatMap((name) => {
          const header = invite.header(name);
          return header === undefined ? [] : [[name.toLowerCase(), header]];
        }),
      );
      const phone = { ...at, callid: callId, party, allowEvents: [], invite: { callId, sdp, via, source, headers } };
      const outcome = await this.#sender.hand(found.node, { phone, errand: { errand: 'replace', replaces: value } });
      // Nobody knows whether the other node has the call, so it ends.
      if (outcome === undefined) await this.phones.end(at);
      else if (!outcome.taken) {
        this.phones.homes.remove(at.key);
        invite.reject(503);
      }
    };
    hand().catch(() => invite.reject(503, undefined, { 'Retry-After': '1' }));
  }

  /** The node that has this dialog; undefined: none of the others. @throws while NATS is away */
  async ownerOf(dialogid: string): Promise<string | undefined> {
    const answers = await this.link.askAll<boolean>(HAS, { dialogid });
    return answers.find((each) => each.answer)?.id;
  }

  bringIn({ node, dialogid, side }: ReplacedElsewhere, room: Omit<BroughtParty, 'dialogid' | 'side'>): Attempt {
    const progress = new AttemptProgress();
    const asked: BroughtParty = { dialogid, side, ...room };
    this.link.ask(node, ENTER, asked, FETCH_MS).then(
      (final) => progress.finish(final as SipAnswer),
      () => progress.finish(answer(503, undefined, true)),
    );
    return progress;
  }

  /** Sends a party to be joined with one of another node. It is in no dialog meanwhile. @throws MediaError */
  async join(node: string, opponent: CallingLeg, errand: Omit<JoinErrand, 'errand'>): Promise<Outcome> {
    if (!isMovable(opponent)) throw new MediaError('only a phone goes to a call of another node', 488);
    return await this.#sender.send(node, opponent, { errand: 'join', ...errand });
  }

  send(node: string, leg: MovableLeg, errand: Errand): Promise<Outcome> {
    return this.#sender.send(node, leg, errand);
  }

  async fetch<Call extends CallRef>(
    node: string,
    { side, domain, waits }: Omit<WantedParty, 'node' | 'token'>,
    use: (party: FetchedParty) => Promise<Call>,
  ): Promise<Call | number> {
    const token = randomUUID();
    let call: Call | undefined;
    this.#awaited.set(token, async ({ replaces, ...party }) => {
      call = await use(party);
      call.account?.replaces(replaces);
      return call;
    });
    try {
      const wanted: WantedParty = { side, domain, waits, node: this.link.self, token };
      const { status } = (await this.link.ask(node, FETCH, wanted, FETCH_MS)) as { readonly status: number };
      return call ?? status;
    } catch {
      return call ?? 481;
    } finally {
      this.#awaited.delete(token);
    }
  }

  /** A party that was asked for is here. */
  async fetched(token: string, party: Arrived): Promise<Outcome> {
    const use = this.#awaited.get(token);
    if (use === undefined) return { final: answer(487, undefined, true), taken: false };
    const { dialogid, inviteid } = await use(party);
    return { final: answer(200, 'OK', true), taken: true, call: { dialogid, inviteid } };
  }

  async close(): Promise<void> {
    await this.phones.homes.close();
  }

  #attempt({ caller, dialog }: AttemptOptions, work: () => Promise<SipAnswer>): Attempt {
    const progress = new AttemptProgress();
    work().then(
      (final) => progress.finish(final),
      (err: unknown) => {
        // What the others know cannot be asked for at the moment.
        if (!dialog.ended.aborted && err instanceof MediaError && err.status >= 500)
          this.#tools.failed(err, 'a call to another node', caller);
        progress.finish(err instanceof MediaError ? failureAnswer(err) : answer(503, undefined, true));
      },
    );
    return progress;
  }

  /** Lets the call go to the node of its room, or of the call that rings. */
  async #place(node: string, decision: Placed, options: AttemptOptions): Promise<Outcome> {
    const { dialog, caller, beforeMedia, entrance } = options;
    if (!isMovable(caller)) throw new MediaError('only a phone goes to a call of another node', 488);
    await beforeMedia?.();
    const { domain, dialled, callerNumber, callerName, asserted, timeoutMs, headers } = options;
    const { instead: _here, ...way } = entrance ?? {};
    const errand: PlaceErrand = {
      errand: 'place',
      dialog: dialog.moved,
      carried: toldCarried(dialog.carried),
      decision,
      options: {
        domain,
        dialled,
        callerNumber,
        callerName,
        asserted,
        timeoutMs,
        headers,
        ...(entrance && { entrance: { brought: entrance.brought, ...way } }),
      },
    };
    dialog.listed = false;
    try {
      const outcome = await this.#sender.send(node, caller, errand);
      if (outcome.taken) this.#moved(node, dialog);
      if (outcome.room !== undefined) options.onEntered?.(outcome.room);
      return outcome;
    } finally {
      dialog.listed = true;
    }
  }

  #moved(node: string, dialog: CallDialog): void {
    dialog.leave();
    const { dialogid } = dialog;
    dialog.account.onReplaces = (id) => {
      // Only the history needs it.
      this.link.ask(node, REPLACES, { dialogid, id }, QUICK_MS).catch(() => undefined);
    };
  }
}
