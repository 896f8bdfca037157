/** Phones whose calls this node has, and whose SIP dialogs are at their home: another node, or this one again. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { HomeOf } from '../../callstore/index.ts';
import { MediaError } from '../../media/index.ts';
import {
  type DialogTags,
  type ReferAnswer,
  ReinviteRefused,
  type RequestSource,
  type SipDialog,
  type SipDialogHandlers,
  type SipDialogPlace,
} from '../../signalling/index.ts';
import { HomePhones } from './home-phones.ts';
import type { DialogLine, InviteLine, MovedDialog, MovedInvite } from './line.ts';
import type { NodeLink } from './node-link.ts';
import {
  ATTACH,
  type Attached,
  DO,
  type Done,
  EVENT,
  type EventAnswer,
  type PhoneEnd,
  type PhoneEvent,
  type PhoneOrder,
} from './phone-requests.ts';

/** Milliseconds for an answer of the phone: it may be sent again for 32 s (RFC 3261 section 17). */
const ORDER_MS = 40_000;
/** Milliseconds for an answer of the home's memory. */
const QUICK_MS = 5000;
/** Milliseconds before an end is sent again that did not reach the home. */
const RETRY_MS = 500;

/** Phones whose home is dead, at their SIP servers. */
export interface LostPhones {
  /** Goes on with the SIP dialog at this node; undefined when its server is not connected. */
  adopt(place: SipDialogPlace): SipDialog | undefined;
  /** Hangs up. */
  release(place: SipDialogPlace): void;
}

type OrderOf = PhoneOrder extends infer Order ? (Order extends unknown ? Omit<Order, 'key' | 'from'> : never) : never;

/** A phone of another node's SIP connection, in a call of this node. */
export class FarPhone {
  /** Another one after the death of its home: this node. */
  at: HomeOf;
  /** Where its SIP server has the dialog, once there is one. */
  place: SipDialogPlace | undefined;
  readonly #phones: FarPhones;
  #handlers: SipDialogHandlers | undefined;
  readonly #cancelled = new AbortController();
  #end: PhoneEnd | undefined;
  readonly #accepted = new Map<string, () => void>();
  /** Its re-INVITEs without an answer. */
  readonly #offers = new Map<string, AbortController>();

  constructor(phones: FarPhones, at: HomeOf, place?: SipDialogPlace) {
    this.#phones = phones;
    this.at = at;
    this.place = place;
  }

  /** Aborted when the caller cancels. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  handle(handlers: SipDialogHandlers): void {
    this.#handlers = handlers;
    if (this.#end !== undefined) handlers.ended(this.#end.reason, this.#end.lost);
  }

  over(end: PhoneEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#phones.forget(this);
    if (this.#handlers === undefined) this.#cancelled.abort(new MediaError('the caller is gone', 487));
    else this.#handlers.ended(end.reason, end.lost);
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  async heard(event: PhoneEvent): Promise<EventAnswer | null> {
    const handlers = this.#handlers;
    switch (event.event) {
      case 'ended':
        this.over(event.end);
        return null;
      case 'reinvite':
        return await this.#offered(event.sdp, event.offer);
      case 'cancelled':
        this.#offers.get(event.offer)?.abort();
        return null;
      case 'ack':
        handlers?.answerInAck(event.sdp);
        return null;
      case 'message':
        handlers?.messaged(event.message);
        return null;
      case 'refer':
        return await this.#refer(event.refer, event);
      case 'referAccepted':
        this.#accepted.get(event.refer)?.();
        this.#accepted.delete(event.refer);
        return null;
      default:
        return event satisfies never;
    }
  }

  async #offered(sdp: string | undefined, offer: string): Promise<EventAnswer> {
    const cancelled = new AbortController();
    this.#offers.set(offer, cancelled);
    try {
      return (await this.#handlers?.reinvite(sdp, cancelled.signal)) ?? { status: 491 };
    } finally {
      this.#offers.delete(offer);
    }
  }

  async #refer(
    refer: string,
    { referTo, referredBy }: { readonly referTo: string; readonly referredBy?: string | undefined },
  ): Promise<EventAnswer> {
    const answer: ReferAnswer = (await this.#handlers?.refer({
      referTo,
      referredBy,
      tell: async (line, last) => void (await this.order({ order: 'tell', refer, line, last })),
    })) ?? { status: 481 };
    if (answer.accepted !== undefined) this.#accepted.set(refer, answer.accepted);
    return { status: answer.status };
  }

  /** @throws when the home does not answer */
  order(order: OrderOf): Promise<Done> {
    return this.#phones.order(this.at, { ...order, key: this.at.key, from: this.#phones.self });
  }

  /** Ends the phone's call, also after NATS was away. */
  async endBy(order: OrderOf & { readonly order: 'bye' | 'reject' }): Promise<void> {
    this.#end ??= { reason: 'local', lost: false };
    this.#phones.forget(this);
    const isTold = await this.#phones.insist(this.at, () => this.order(order));
    if (!isTold && this.place !== undefined) this.#phones.release(this.place);
  }

  /** The call is at another node. */
  forget(): void {
    this.#phones.forget(this);
  }

  /** The call goes back to another node, which was not dead. */
  goBack(node: string): void {
    this.#phones.forget(this);
    void this.#phones.insist(this.at, () => this.#phones.attachTo(this.at, node));
  }
}

/** A phone whose SIP dialog this node took over, as its home was dead. */
interface Inherited {
  readonly from: HomeOf;
  readonly dialog: SipDialog;
}

/** All of them. */
export class FarPhones {
  readonly homes: HomePhones;
  readonly #link: NodeLink;
  readonly #lost: LostPhones;
  readonly #phones = new Map<string, FarPhone>();
  readonly #inherited = new Map<FarPhone, Inherited>();

  constructor(link: NodeLink, lost: LostPhones) {
    this.#link = link;
    this.#lost = lost;
    this.homes = new HomePhones(link, (event) => this.#heard(event));
    link.serve(EVENT, (asked) => this.#heard(asked as PhoneEvent));
    link.onSettled({ settled: (id) => this.#settled(id), returned: (id) => this.#returned(id) });
  }

  get self(): string {
    return this.#link.self;
  }

  /** Takes the events of a phone whose call comes here. @throws when its home does not answer */
  async attach(at: HomeOf, place?: SipDialogPlace): Promise<FarPhone> {
    const phone = new FarPhone(this, at, place);
    this.#phones.set(nameOf(at), phone);
    try {
      const { end } = await this.attachTo(at, this.self);
      if (end !== undefined) phone.over(end);
      return phone;
    } catch (error) {
      // Its home has died meanwhile, and this node is the home now.
      if (phone.at !== at) return phone;
      this.forget(phone);
      throw error;
    }
  }

  /** Gives the events of a phone to a node. @throws when its home does not answer */
  async attachTo({ home, key }: HomeOf, holder: string): Promise<Attached> {
    if (home === this.self) return this.homes.attach(key, holder);
    return (await this.#link.ask(home, ATTACH, { key, holder }, QUICK_MS)) as Attached;
  }

  order({ home }: HomeOf, order: PhoneOrder): Promise<Done> {
    if (home === this.#link.self) return this.homes.order(order);
    return this.#link.ask(home, DO, order, ORDER_MS) as Promise<Done>;
  }

  isGone({ home }: HomeOf): boolean {
    return home !== this.#link.self && this.#link.gone(home).aborted;
  }

  /** Tells the home of a phone, also after NATS was away. @returns false when the home is gone */
  async insist(at: HomeOf, tell: () => Promise<unknown>): Promise<boolean> {
    while (!this.isGone(at)) {
      try {
        await tell();
        return true;
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
    return false;
  }

  /**
   * Ends a phone's call, whichever node has it by now.
   * @param place where its SIP server has the dialog, for the case that its home is dead
   */
  async end(at: HomeOf, place?: SipDialogPlace, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    await new FarPhone(this, at, place).endBy({ order: 'bye', headers });
  }

  /** Hangs up a phone whose home is gone. */
  release(place: SipDialogPlace): void {
    this.#lost.release(place);
  }

  /** Its events are no longer taken here. */
  forget(phone: FarPhone): void {
    this.#inherited.delete(phone);
    const name = nameOf(phone.at);
    if (this.#phones.get(name) === phone) this.#phones.delete(name);
  }

  /** Another node is dead: the phones that it was the home of have this one now, and those whose calls it had are released. */
  #settled(node: string): void {
    for (const phone of this.#phones.values()) if (phone.at.home === node) this.#inherit(phone);
    this.homes.settled(node);
  }

  #inherit(phone: FarPhone): void {
    const { at: from, place } = phone;
    const dialog = place && this.#lost.adopt(place);
    if (dialog === undefined) return phone.over({ reason: 'the node of the phone ended', lost: true });
    this.#rehome(phone, this.homes.add({ dialog }));
    this.#inherited.set(phone, { from, dialog });
    // It may have hung up meanwhile.
    dialog.check();
  }

  /** The node was not dead, and has the SIP dialogs of its phones again. */
  #returned(node: string): void {
    for (const [phone, { from, dialog }] of this.#inherited) {
      if (from.home !== node) continue;
      this.homes.remove(phone.at.key);
      dialog.leave();
      this.#rehome(phone, from);
    }
  }

  #rehome(phone: FarPhone, at: HomeOf): void {
    this.forget(phone);
    phone.at = at;
    this.#phones.set(nameOf(at), phone);
  }

  async #heard(event: PhoneEvent): Promise<EventAnswer | null> {
    const phone = this.#phones.get(nameOf(event));
    if (phone !== undefined) return await phone.heard(event);
    return event.event === 'reinvite' ? { status: 491 } : { status: 481 };
  }
}

function nameOf({ home, key }: HomeOf): string {
  return `${home} ${key}`;
}

/** The INVITE of a phone that another node's SIP server has received. */
export class FarInvite implements InviteLine {
  readonly phone: FarPhone;
  readonly moved: MovedInvite;
  #tags: DialogTags | undefined;

  constructor(phone: FarPhone, moved: MovedInvite) {
    this.phone = phone;
    this.moved = moved;
  }

  get callId(): string {
    return this.moved.callId;
  }

  get sdp(): string {
    return this.moved.sdp;
  }

  get via(): string | undefined {
    return this.moved.via;
  }

  get source(): RequestSource {
    return this.moved.source;
  }

  get tags(): DialogTags | undefined {
    return this.#tags;
  }

  get cancelled(): AbortSignal {
    return this.phone.cancelled;
  }

  header(name: string): string | undefined {
    return this.moved.headers[name.toLowerCase()];
  }

  progress(sdp?: string): void {
    // A lost one is none: the final answer counts.
    this.phone.order({ order: 'progress', sdp }).catch(() => undefined);
  }

  reject(status: number, reason?: string, headers: Record<string, string> = {}): void {
    if (!this.phone.ended) void this.phone.endBy({ order: 'reject', status, reason, headers });
  }

  async accept(sdp: string, room?: string): Promise<FarDialog> {
    const { tags, place } = await this.phone.order({ order: 'accept', sdp, room });
    this.phone.place = place;
    if (tags === undefined) throw new MediaError('the caller is gone', 487);
    this.#tags = tags;
    return new FarDialog(this.phone, { callId: this.callId, tags });
  }
}

/** A SIP dialog that another node's SIP server has. */
export class FarDialog implements DialogLine {
  readonly phone: FarPhone;
  readonly callId: string;
  readonly tags: DialogTags;

  constructor(phone: FarPhone, { callId, tags }: Pick<MovedDialog, 'callId' | 'tags'>) {
    this.phone = phone;
    this.callId = callId;
    this.tags = tags;
  }

  get place(): SipDialogPlace | undefined {
    return this.phone.place;
  }

  handle(handlers: SipDialogHandlers): void {
    this.phone.handle(handlers);
  }

  /** Its home asks whether the phone is there. */
  check(): void {}

  /** @param to the node that was not dead, and has the call again; absent: nobody has it */
  leave(to?: string): void {
    if (to === undefined) this.phone.forget();
    else this.phone.goBack(to);
  }

  async bye(headers: Record<string, string> = {}): Promise<void> {
    if (!this.phone.ended) await this.phone.endBy({ order: 'bye', headers });
  }

  async reinvite(sdp: string, unwanted?: AbortSignal): Promise<string> {
    const offer = randomUUID();
    // Where it does not arrive, the phone is asked on, until it answers.
    const cancel = (): void => void this.phone.order({ order: 'cancel', offer }).catch(() => undefined);
    unwanted?.addEventListener('abort', cancel, { once: true });
    try {
      const { sdp: answer, status = 481 } = await this.phone.order({ order: 'reinvite', sdp, offer });
      if (answer === undefined) throw new ReinviteRefused(status);
      return answer;
    } finally {
      unwanted?.removeEventListener('abort', cancel);
    }
  }

  async request(method: string, headers: Record<string, string>, body?: string): Promise<number> {
    const { status = 481 } = await this.phone.order({ order: 'request', method, headers, body });
    return status;
  }

  async notify(event: string): Promise<void> {
    await this.phone.order({ order: 'notify', event });
  }

  async sendDtmf(digit: string): Promise<void> {
    await this.phone.order({ order: 'dtmf', digit });
  }
}
