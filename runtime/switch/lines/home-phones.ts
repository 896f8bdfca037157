/** Phones of this node's SIP connections whose calls another node has. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { HomeOf } from '../../callstore/index.ts';
import { type ReferRequest, ReinviteRefused, type SipDialogHandlers } from '../../signalling/index.ts';
import type { DialogLine, InviteLine } from './line.ts';
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

/** Milliseconds for the answer of the node of a call: it may ask the media server. */
const EVENT_MS = 10_000;
/** Milliseconds before an end is told again that the node of the call did not hear. */
const RETRY_MS = 500;
/** What the node of a call hears when another one has the phone. */
const OVER: PhoneEnd = { reason: 'the call is over', lost: true };
/** What a phone hears of the death of the node that had its call. */
const LOST = { status: 503, header: { Reason: 'SIP;cause=503;text="Node Lost"' } };

interface HomePhone {
  readonly key: string;
  readonly invite: InviteLine | undefined;
  dialog: DialogLine | undefined;
  /** The node that has the call. */
  holder: string;
  end: PhoneEnd | undefined;
  readonly refers: Map<string, ReferRequest>;
  /** The re-INVITEs without an answer of the phone. */
  readonly offers: Map<string, AbortController>;
}

/** The phones whose SIP dialogs stay here while their calls are at other nodes. */
export class HomePhones {
  readonly #link: NodeLink;
  readonly #deliver: (event: PhoneEvent) => Promise<unknown>;
  readonly #phones = new Map<string, HomePhone>();

  /** @param deliver an event to a call of this node */
  constructor(link: NodeLink, deliver: (event: PhoneEvent) => Promise<unknown>) {
    this.#link = link;
    this.#deliver = deliver;
    link.serve(DO, (asked) => this.order(asked as PhoneOrder));
    link.serve(ATTACH, (asked) => {
      const { key, holder } = asked as { readonly key: string; readonly holder: string };
      return this.attach(key, holder);
    });
  }

  /** Phones whose calls are at other nodes. */
  get count(): number {
    let count = 0;
    for (const { holder } of this.#phones.values()) if (holder !== this.#link.self) count += 1;
    return count;
  }

  /** Takes a line of this node's SIP server: from now on its call may be anywhere. */
  add(line: { readonly invite: InviteLine } | { readonly dialog: DialogLine }): HomeOf {
    const { self } = this.#link;
    const phone: HomePhone = {
      key: randomUUID(),
      invite: 'invite' in line ? line.invite : undefined,
      dialog: undefined,
      holder: self,
      end: undefined,
      refers: new Map(),
      offers: new Map(),
    };
    this.#phones.set(phone.key, phone);
    phone.invite?.cancelled.addEventListener('abort', () => this.#ended(phone, { reason: 'CANCEL', lost: false }), {
      once: true,
    });
    if ('dialog' in line) this.#established(phone, line.dialog);
    return { home: self, key: phone.key };
  }

  /** This node or another one has the call of a phone from now on. */
  attach(key: string, holder: string): Attached {
    const phone = this.#phones.get(key);
    if (phone === undefined) return { end: { reason: 'the call is over', lost: false } };
    phone.holder = holder;
    if (phone.end === undefined) return {};
    this.#forget(phone);
    return { end: phone.end };
  }

  /** The call comes back to this node, which uses the line itself again. A node that has taken it is told of an end. */
  remove(key: string): void {
    const phone = this.#phones.get(key);
    if (phone === undefined) return;
    this.#forget(phone);
    if (phone.holder !== this.#link.self) void this.#tellEnd(phone, OVER);
  }

  /** True when the node of the call has answered this caller. */
  hasAnswered(key: string): boolean {
    const phone = this.#phones.get(key);
    return phone?.invite !== undefined && phone.dialog !== undefined;
  }

  /** A node is dead, and a living one has taken the calls that go on: the phones of the others are released. */
  settled(node: string): void {
    for (const phone of this.#phones.values()) {
      if (phone.holder !== node) continue;
      if (phone.end === undefined) this.#hangUp(phone).catch(() => undefined);
      else this.#forget(phone);
    }
  }

  /** Does what the node of the call asks. */
  async order(order: PhoneOrder): Promise<Done> {
    const phone = this.#phones.get(order.key);
    if (phone === undefined || phone.end !== undefined) return { gone: true };
    const { invite, dialog } = phone;
    switch (order.order) {
      case 'progress':
        invite?.progress(order.sdp);
        return {};
      case 'reject':
        this.#leave(phone, order.from);
        invite?.reject(order.status, order.reason, order.headers);
        return {};
      case 'accept':
        return await this.#accept(phone, order.sdp, order.room);
      case 'bye':
        this.#leave(phone, order.from);
        await (dialog === undefined ? invite?.reject(LOST.status) : dialog.bye(order.headers));
        return {};
      case 'reinvite':
        return dialog === undefined ? { gone: true } : await reinvited(phone, dialog, order);
      case 'cancel':
        phone.offers.get(order.offer)?.abort();
        return {};
      case 'request':
        return dialog === undefined
          ? { gone: true }
          : { status: await dialog.request(order.method, order.headers, order.body) };
      case 'notify':
        await dialog?.notify(order.event);
        return {};
      case 'dtmf':
        await dialog?.sendDtmf(order.digit);
        return {};
      case 'tell':
        await phone.refers.get(order.refer)?.tell(order.line, order.last);
        if (order.last) phone.refers.delete(order.refer);
        return {};
      default:
        return order satisfies never;
    }
  }

  /** The node stops: its phones lose their SIP dialogs with it. */
  async close(): Promise<void> {
    const all = [...this.#phones.values()].filter(({ holder }) => holder !== this.#link.self);
    await Promise.allSettled(
      all.map(async (phone) => {
        this.#ended(phone, { reason: 'Service Unavailable', lost: true });
        await this.#hangUp(phone);
      }),
    );
  }

  async #accept(phone: HomePhone, sdp: string, room: string | undefined): Promise<Done> {
    const { invite } = phone;
    if (invite === undefined || invite.cancelled.aborted) return { gone: true };
    const dialog = await invite.accept(sdp, room);
    this.#established(phone, dialog);
    return { tags: dialog.tags, place: dialog.place };
  }

  #established(phone: HomePhone, dialog: DialogLine): void {
    phone.dialog = dialog;
    const handlers: SipDialogHandlers = {
      ended: (reason, lost) => this.#ended(phone, { reason, lost }),
      reinvite: (sdp, cancelled) => this.#offered(phone, sdp, cancelled),
      answerInAck: (sdp) => void this.#ask(phone, { event: 'ack', sdp }),
      messaged: (message) => void this.#ask(phone, { event: 'message', message }),
      refer: async (request) => {
        const refer = randomUUID();
        const { referTo, referredBy } = request;
        phone.refers.set(refer, request);
        const answer = (await this.#ask(phone, { event: 'refer', refer, referTo, referredBy })) ?? { status: 503 };
        if (answer.status >= 300) phone.refers.delete(refer);
        return { status: answer.status, accepted: () => void this.#ask(phone, { event: 'referAccepted', refer }) };
      },
    };
    dialog.handle(handlers);
  }

  /** A re-INVITE of the phone. */
  async #offered(phone: HomePhone, sdp: string | undefined, cancelled: AbortSignal | undefined): Promise<EventAnswer> {
    const offer = randomUUID();
    const cancel = (): void => void this.#ask(phone, { event: 'cancelled', offer });
    cancelled?.addEventListener('abort', cancel, { once: true });
    const answer = await this.#ask(phone, { event: 'reinvite', sdp, offer });
    cancelled?.removeEventListener('abort', cancel);
    return answer ?? { status: 491 };
  }

  /** Tells the node of the call; undefined when it cannot be told. */
  async #ask(phone: HomePhone, event: DistributiveOmit<PhoneEvent, keyof HomeOf>): Promise<EventAnswer | undefined> {
    try {
      return (await this.#tell(phone, event)) as EventAnswer;
    } catch {
      // Its death ends the phone's call; without NATS the phone may try again.
      return undefined;
    }
  }

  #tell(
    { key, holder }: Pick<HomePhone, 'key' | 'holder'>,
    event: DistributiveOmit<PhoneEvent, keyof HomeOf>,
  ): Promise<unknown> {
    const told = { ...event, home: this.#link.self, key };
    return holder === this.#link.self ? this.#deliver(told) : this.#link.ask(holder, EVENT, told, EVENT_MS);
  }

  /** The phone's call is over. The node that has it must hear of it, also after NATS was away. */
  #ended(phone: HomePhone, end: PhoneEnd): void {
    if (phone.end !== undefined || this.#phones.get(phone.key) !== phone) return;
    phone.end = end;
    void this.#tellEnd(phone, end);
  }

  async #tellEnd(phone: HomePhone, end: PhoneEnd): Promise<void> {
    const { holder } = phone;
    while (!this.#link.isSettled(holder)) {
      try {
        await this.#tell({ key: phone.key, holder }, { event: 'ended', end });
        break;
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
    // A node that takes the call meanwhile learns of it when it attaches.
    if (phone.holder === holder) this.#forget(phone);
  }

  /** A node ends the call. If another one has it by now, that one is told. */
  #leave(phone: HomePhone, by: string): void {
    this.#forget(phone);
    if (phone.holder === by) return;
    phone.end = OVER;
    void this.#tellEnd(phone, OVER);
  }

  /** The phone must not be left in silence. */
  async #hangUp(phone: HomePhone): Promise<void> {
    this.#forget(phone);
    if (phone.dialog === undefined) phone.invite?.reject(LOST.status);
    else await phone.dialog.bye(LOST.header);
  }

  #forget(phone: HomePhone): void {
    this.#phones.delete(phone.key);
  }
}

type DistributiveOmit<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;

async function reinvited(
  { offers }: HomePhone,
  dialog: DialogLine,
  { sdp, offer }: { readonly sdp: string; readonly offer: string },
): Promise<Done> {
  const unwanted = new AbortController();
  offers.set(offer, unwanted);
  try {
    return { sdp: await dialog.reinvite(sdp, unwanted.signal) };
  } catch (error) {
    if (!(error instanceof ReinviteRefused)) throw error;
    return { status: error.status };
  } finally {
    offers.delete(offer);
  }
}
