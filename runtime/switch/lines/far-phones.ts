/** Phones whose calls this node has, and whose SIP dialogs are at their home: another node, or this one again. */
import { setTimeout as delay } from 'node:timers/promises';
import { MediaError } from '../../media/index.ts';
import {
  type DialogTags,
  type ReferAnswer,
  ReinviteRefused,
  type RequestSource,
  type SipDialogHandlers,
  type SipDialogPlace,
} from '../../signalling/index.ts';
import { HomePhones } from './home-phones.ts';
import type { DialogLine, HomeOf, InviteLine, MovedDialog, MovedInvite } from './line.ts';
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

type OrderOf = PhoneOrder extends infer Order ? (Order extends unknown ? Omit<Order, 'key' | 'from'> : never) : never;

/** A phone of another node's SIP connection, in a call of this node. */
export class FarPhone {
  readonly at: HomeOf;
  /** Where its SIP server has the dialog, once there is one. */
  place: SipDialogPlace | undefined;
  readonly #phones: FarPhones;
  #handlers: SipDialogHandlers | undefined;
  readonly #cancelled = new AbortController();
  #end: PhoneEnd | undefined;
  readonly #accepted = new Map<string, () => void>();

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
        return (await handlers?.reinvite(event.sdp)) ?? { status: 491 };
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
    while (!this.#phones.isGone(this.at)) {
      try {
        await this.order(order);
        return;
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }
}

/** All of them. */
export class FarPhones {
  readonly homes: HomePhones;
  readonly #link: NodeLink;
  readonly #release: (place: SipDialogPlace) => void;
  readonly #phones = new Map<string, { readonly phone: FarPhone; unwatch(): void }>();

  /** @param release hangs up a phone whose home is dead */
  constructor(link: NodeLink, release: (place: SipDialogPlace) => void) {
    this.#link = link;
    this.#release = release;
    this.homes = new HomePhones(link, (event) => this.#heard(event));
    link.serve(EVENT, (asked) => this.#heard(asked as PhoneEvent));
  }

  get self(): string {
    return this.#link.self;
  }

  /** Takes the events of a phone whose call comes here. @throws when its home does not answer */
  async attach({ home, key }: HomeOf, place?: SipDialogPlace): Promise<FarPhone> {
    this.#phones.get(nameOf({ home, key }))?.unwatch();
    const phone = new FarPhone(this, { home, key }, place);
    const gone = this.#link.gone(home);
    const lost = (): void => {
      if (phone.place !== undefined) this.#release(phone.place);
      phone.over({ reason: 'the node of the phone ended', lost: true });
    };
    if (home !== this.#link.self) gone.addEventListener('abort', lost, { once: true });
    this.#phones.set(nameOf(phone.at), { phone, unwatch: () => gone.removeEventListener('abort', lost) });
    const { self } = this.#link;
    const asked = { key, holder: self };
    try {
      const { end } = (
        home === self ? this.homes.attach(key, self) : await this.#link.ask(home, ATTACH, asked, QUICK_MS)
      ) as Attached;
      if (end !== undefined) phone.over(end);
      return phone;
    } catch (error) {
      this.forget(phone);
      throw error;
    }
  }

  order({ home }: HomeOf, order: PhoneOrder): Promise<Done> {
    if (home === this.#link.self) return this.homes.order(order);
    return this.#link.ask(home, DO, order, ORDER_MS) as Promise<Done>;
  }

  isGone({ home }: HomeOf): boolean {
    return home !== this.#link.self && this.#link.gone(home).aborted;
  }

  /** Ends a phone's call, whichever node has it by now. */
  async end(at: HomeOf): Promise<void> {
    await new FarPhone(this, at).endBy({ order: 'bye', headers: {} });
  }

  /** Its events are no longer taken here. */
  forget(phone: FarPhone): void {
    const known = this.#phones.get(nameOf(phone.at));
    if (known?.phone !== phone) return;
    known.unwatch();
    this.#phones.delete(nameOf(phone.at));
  }

  async #heard(event: PhoneEvent): Promise<EventAnswer | null> {
    const known = this.#phones.get(nameOf(event));
    if (known !== undefined) return await known.phone.heard(event);
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
  /** Nobody adopts it: its home hangs up when this node dies. */
  readonly place = undefined;

  constructor(phone: FarPhone, { callId, tags }: Pick<MovedDialog, 'callId' | 'tags'>) {
    this.phone = phone;
    this.callId = callId;
    this.tags = tags;
  }

  handle(handlers: SipDialogHandlers): void {
    this.phone.handle(handlers);
  }

  async bye(headers: Record<string, string> = {}): Promise<void> {
    if (!this.phone.ended) await this.phone.endBy({ order: 'bye', headers });
  }

  async reinvite(sdp: string): Promise<string> {
    const { sdp: answer, status = 481 } = await this.phone.order({ order: 'reinvite', sdp });
    if (answer === undefined) throw new ReinviteRefused(status);
    return answer;
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
