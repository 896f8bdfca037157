/** The subscriptions of a node: takes SUBSCRIBEs, and tells subscribers of changes (RFC 6665). */
import type { LocationStore, SipUser } from '../../domain/index.ts';
import {
  type Log,
  type OutgoingNotifyOptions,
  type NotifyResult,
  parseSipUri,
  readSubscribe,
  sourceOf,
  type SrfRequest,
  type SrfResponse,
  type SubscribeRequest,
  tagOf,
} from '../../signalling/index.ts';
import { nextHopOf } from '../addresses/next-hop.ts';
import type { Authentication } from '../registrations/authentication.ts';
import type { NodeLink, SharedStates } from '../lines/node-link.ts';
import type { SwitchTools } from '../tools.ts';
import type { EventPackage } from './event-package.ts';
import { MAX_EXPIRES, MIN_EXPIRES } from './expires.ts';
import { Subscription, type SubscriptionFacts, type SubscriptionTools } from './subscription.ts';

/** Subscriptions of one sipuser, over all its phones: a phone with three key modules has some 120 lamps. */
export const MAX_OF_SIPUSER = 250;
/** Subscriptions of a node. */
const MAX_OF_NODE = 20_000;
/** Gives a subscription to the node to which its refresh came. */
const MOVE = 'subscriptions.move';
/** Milliseconds until the first NOTIFY for another node: later than the last one of that node, so that its number is higher. */
const TAKE_OVER_MS = 1500;
/** Resumed subscriptions a second, after a restart. */
const RESUMED_PER_SECOND = 200;

interface StoredRow {
  readonly data: object;
}

/** Keeps subscriptions for the next start of the node, and for the other nodes of a cluster. */
export interface SubscriptionStore {
  load(): Promise<readonly StoredRow[]>;
  /** Makes those of dead nodes this node's own. */
  take(nodes: readonly string[]): Promise<readonly StoredRow[]>;
  /** Gives these back to a node that was not dead. */
  give(ids: readonly string[], node: string): Promise<void>;
  save(row: { id: string; sipUserId: string; expires: number; data: object }): void;
  remove(id: string): void;
}

export interface SubscriptionsOptions {
  readonly tools: Pick<SwitchTools, 'directory' | 'isHere'>;
  readonly location: Pick<LocationStore, 'contacts'>;
  readonly authentication: Authentication;
  readonly packages: readonly EventPackage[];
  readonly notify: (options: OutgoingNotifyOptions) => Promise<NotifyResult>;
  readonly store?: SubscriptionStore | undefined;
  /** The other nodes of the cluster; absent on a single node. */
  readonly nodes?: Pick<NodeLink, 'shareStates' | 'serve' | 'askAll'> | undefined;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #packages: ReadonlyMap<string, EventPackage>;
  readonly #tools: SubscriptionTools;
  readonly #byId = new Map<string, Subscription>();
  /** By event and key of the resource. */
  readonly #byResource = new Map<string, Set<Subscription>>();
  /** Places taken by sipuser, and of the node: also by those whose 200 is on its way. */
  readonly #counts = new Map<string, number>();
  #taken = 0;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #now: () => number;
  readonly #states: SharedStates | undefined;
  /** Ids of subscriptions by the dead process that had them. */
  readonly #inherited = new Map<string, readonly string[]>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#packages = new Map(options.packages.map((each) => [each.name, each]));
    this.#now = options.now ?? Date.now;
    this.#states = options.nodes?.shareStates({
      state: (topic) => {
        const [event, key] = parted(topic);
        return this.#packages.get(event)?.own?.(key);
      },
      changed: (topic) => this.changed(...parted(topic)),
    });
    options.nodes?.serve(MOVE, (asked) => {
      const subscription = this.#byId.get((asked as { readonly id: string }).id);
      if (subscription !== undefined) this.#release(subscription);
      return subscription?.facts ?? null;
    });
    this.#tools = {
      state: async ({ sipUserId, event, target, key }) => {
        await this.#states?.known(`${event} ${key}`);
        const subscriber = options.tools.directory.sipUserById(sipUserId);
        const found = this.#packages.get(event);
        if (subscriber === undefined || found === undefined) return undefined;
        const resource = found.resource(subscriber, target);
        return 'key' in resource && resource.key === key ? await found.state(subscriber, target) : undefined;
      },
      notify: options.notify,
      nextHop: (facts) => this.#nextHop(facts),
      ended: (subscription, reason) => {
        const { id, event, target } = subscription.facts;
        options.log.debug({ subscription: id, event, target, reason }, 'subscription ended');
        this.#forget(subscription);
      },
      failed: (err, { event, target }) =>
        options.log.warn({ err, event, target }, 'a NOTIFY waits: its state cannot be read'),
      now: this.#now,
    };
  }

  /** The value of Allow-Events. */
  get events(): string {
    return [...this.#packages.keys(), 'refer'].join(', ');
  }

  get count(): number {
    return this.#byId.size;
  }

  /** Numbers of subscriptions by event package. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { facts } of this.#byId.values()) counts[facts.event] = (counts[facts.event] ?? 0) + 1;
    return counts;
  }

  /** Takes a SUBSCRIBE, which begins, prolongs or ends a subscription. */
  take(req: SrfRequest, res: SrfResponse, via: string): void {
    const refuse = (status: number, headers: Record<string, string> = {}): void => res.send(status, { headers });
    const account = this.#options.authentication.caller(req, refuse);
    if (account === undefined) return;
    if (account.kind === 'provider') return refuse(403);
    const wanted = readSubscribe(req);
    if ('refusal' in wanted) {
      const { status, reason } = wanted.refusal;
      const reply = { headers: status === 489 ? { 'Allow-Events': this.events } : {} };
      return reason === undefined ? res.send(status, reply) : res.send(status, reason, reply);
    }
    const found = this.#packages.get(wanted.event);
    if (found === undefined) return refuse(489, { 'Allow-Events': this.events });
    const expires = Math.min(wanted.expires ?? found.defaultExpires, MAX_EXPIRES);
    if (expires > 0 && expires < MIN_EXPIRES) return refuse(423, { 'Min-Expires': String(MIN_EXPIRES) });
    if (wanted.toTag === '') this.#begin(account.sipUser, found, wanted, expires, { req, res, via });
    else this.#prolong(account.sipUser, wanted, expires, { req, res });
  }

  /** A resource has changed: its subscribers learn its state. @param key undefined: all of the event package may have changed */
  changed(event: string, key?: string): void {
    if (key === undefined) {
      for (const subscription of this.#byId.values()) if (subscription.facts.event === event) subscription.change();
    } else for (const subscription of this.#byResource.get(`${event} ${key}`) ?? []) subscription.change();
  }

  /** The same, of a state that this node has for all nodes. */
  ownChanged(event: string, key: string): void {
    this.changed(event, key);
    this.#states?.changed(`${event} ${key}`);
  }

  /** The states of other nodes, where a phone of this one is subscribed. */
  elsewhere<State>(event: string, key: string): readonly State[] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the same package of another node has made
    return (this.#states?.of(`${event} ${key}`) ?? []) as readonly State[];
  }

  /** True when a phone of the sipuser is subscribed. */
  has(event: string, key: string): boolean {
    return this.#byResource.has(`${event} ${key}`);
  }

  /** Goes on with the subscriptions of an earlier process of this node; every subscriber gets the present state. */
  async resume(): Promise<void> {
    this.#goOn((await this.#options.store?.load()) ?? [], 0);
  }

  /** Goes on with the subscriptions of another node, unless a third one does. @param node id of the process */
  async takeOver(node: string): Promise<void> {
    const rows = (await this.#options.store?.take([node])) ?? [];
    if (rows.length > 0) this.#inherited.set(node, this.#goOn(rows, TAKE_OVER_MS));
  }

  /** The process was not dead: it sends its NOTIFYs again. */
  async giveBack(node: string): Promise<void> {
    const ids = this.#inherited.get(node) ?? [];
    this.#inherited.delete(node);
    for (const id of ids) {
      const subscription = this.#byId.get(id);
      if (subscription !== undefined) this.#release(subscription);
    }
    await this.#options.store?.give(ids, node);
  }

  /** @returns ids of the subscriptions */
  #goOn(rows: readonly StoredRow[], afterMs: number): readonly string[] {
    const ids: string[] = [];
    for (const { data } of rows) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this class
      const facts = data as SubscriptionFacts;
      if (!this.#packages.has(facts.event) || this.#byId.has(facts.id)) continue;
      this.#takePlace(facts.sipUserId);
      const subscription = this.#add(facts, true);
      const milliseconds = afterMs + Math.floor(ids.length / RESUMED_PER_SECOND) * 1000;
      this.#later(milliseconds, () => subscription.change());
      ids.push(facts.id);
    }
    if (ids.length > 0) this.#options.log.info({ subscriptions: ids.length }, 'subscriptions of phones go on');
    return ids;
  }

  /** Ends the work of this process. The subscriptions stay stored. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const subscription of this.#byId.values()) subscription.drop();
    this.#byId.clear();
    this.#byResource.clear();
  }

  #begin(
    sipUser: SipUser,
    found: EventPackage,
    wanted: SubscribeRequest,
    expires: number,
    { req, res, via }: { req: SrfRequest; res: SrfResponse; via: string },
  ): void {
    const refuse = (status: number, headers: Record<string, string> = {}): void => res.send(status, { headers });
    if (!accepts(wanted.accept, found.type)) return refuse(406, { Accept: found.type });
    const uri = parseSipUri(req.uri);
    // A foreign domain, or another one of this platform.
    if (uri === undefined || !this.#options.tools.isHere(uri.host, sipUser.domain)) return refuse(403);
    const accept = (): void => this.#accept(sipUser, found, { wanted, target: uri.user, expires }, { req, res, via });
    const key = found.place?.(sipUser, uri.user);
    if (this.#states === undefined || key === undefined) return accept();
    const topic = `${found.name} ${key}`;
    void this.#states.watch(topic).then(() => {
      accept();
      this.#states?.unwatch(topic);
    });
  }

  #accept(
    sipUser: SipUser,
    found: EventPackage,
    { wanted, target, expires }: { wanted: SubscribeRequest; target: string; expires: number },
    { req, res, via }: { req: SrfRequest; res: SrfResponse; via: string },
  ): void {
    const refuse = (status: number, headers: Record<string, string> = {}): void => res.send(status, { headers });
    const resource = found.resource(sipUser, target);
    if ('refusal' in resource) return refuse(resource.refusal);
    if ((this.#counts.get(sipUser.id) ?? 0) >= MAX_OF_SIPUSER) return void res.send(403, 'Too Many Subscriptions');
    if (this.#taken >= MAX_OF_NODE) return refuse(503, { 'Retry-After': '60' });
    this.#takePlace(sipUser.id);
    const { event, eventId, callId, from, to, fromTag, contact, routes } = wanted;
    res.send(200, { headers: { Expires: String(expires) } }, (err, sent) => {
      const local = sent?.get('To') ?? '';
      if (sent === undefined || tagOf(local) === '') {
        this.#freePlace(sipUser.id);
        this.#options.log.warn({ err, callid: callId, to }, 'a subscription could not be accepted');
        return;
      }
      const id = idOf(callId, tagOf(local), fromTag, event, eventId);
      const server = sent.stackDialogId ?? res.stackDialogId;
      const own = sent.get('Contact') ?? '<sip:localhost>';
      const dialog = { server, callId, local, remote: from, contact: own, target: contact };
      const began = this.#now();
      const asked = { event, eventId, target, key: resource.key, began, expires: began + expires * 1000 };
      const way = { dialog, remoteTag: fromTag, source: sourceOf(req), route: routes[0], via };
      const subscription = this.#add({ id, sipUserId: sipUser.id, ...asked, ...way });
      // A fetch of the present state (RFC 6665 section 4.4.3).
      if (expires === 0) void subscription.terminate('timeout');
      else {
        this.#save(subscription);
        subscription.change();
      }
    });
  }

  #prolong(
    sipUser: SipUser,
    wanted: SubscribeRequest,
    expires: number,
    { req, res }: { req: SrfRequest; res: SrfResponse },
    isMoved = false,
  ): void {
    const { callId, toTag, fromTag, event, eventId, from, to, contact } = wanted;
    const id = idOf(callId, toTag, fromTag, event, eventId);
    const subscription = this.#byId.get(id);
    const { nodes } = this.#options;
    if (subscription === undefined && nodes !== undefined && !isMoved)
      return void this.#move(id).then(() => this.#prolong(sipUser, wanted, expires, { req, res }, true));
    if (subscription === undefined || subscription.facts.sipUserId !== sipUser.id) return void res.send(481);
    res.send(200, { headers: { Expires: String(expires) } }, () => {
      const { dialog } = subscription.facts;
      if (expires === 0) void subscription.terminate('timeout');
      else {
        subscription.refresh({
          expires: this.#now() + expires * 1000,
          source: sourceOf(req),
          dialog: { ...dialog, local: to, remote: from, target: contact },
        });
        this.#save(subscription);
      }
    });
  }

  /** Gets a subscription of another node. Without one, the phone is answered 481, and subscribes anew. */
  async #move(id: string): Promise<void> {
    const { nodes, log } = this.#options;
    try {
      const answers = (await nodes?.askAll<SubscriptionFacts | null>(MOVE, { id })) ?? [];
      for (const { answer: facts } of answers) {
        if (facts === null || this.#byId.has(id)) continue;
        this.#takePlace(facts.sipUserId);
        this.#add(facts, true);
      }
    } catch (err) {
      log.debug({ err, subscription: id }, 'no other node was asked for a subscription');
    }
  }

  /** Another node goes on with it. */
  #release(subscription: Subscription): void {
    subscription.drop();
    this.#remove(subscription);
  }

  #add(facts: SubscriptionFacts, resumed = false): Subscription {
    const subscription = new Subscription(facts, this.#tools, resumed);
    this.#byId.get(facts.id)?.drop();
    this.#byId.set(facts.id, subscription);
    const resource = `${facts.event} ${facts.key}`;
    const others = this.#byResource.get(resource) ?? new Set();
    if (others.size === 0 && this.#packages.get(facts.event)?.own !== undefined) void this.#states?.watch(resource);
    this.#byResource.set(resource, others.add(subscription));
    return subscription;
  }

  #takePlace(sipUserId: string): void {
    this.#taken += 1;
    this.#counts.set(sipUserId, (this.#counts.get(sipUserId) ?? 0) + 1);
  }

  #freePlace(sipUserId: string): void {
    this.#taken -= 1;
    const left = (this.#counts.get(sipUserId) ?? 1) - 1;
    if (left > 0) this.#counts.set(sipUserId, left);
    else this.#counts.delete(sipUserId);
  }

  #forget(subscription: Subscription): void {
    if (this.#remove(subscription)) this.#options.store?.remove(subscription.facts.id);
  }

  /** @returns false for one that was replaced */
  #remove(subscription: Subscription): boolean {
    const { id, event, key, sipUserId } = subscription.facts;
    if (this.#byId.get(id) !== subscription) return false;
    this.#byId.delete(id);
    const resource = `${event} ${key}`;
    const others = this.#byResource.get(resource);
    if (others?.delete(subscription) === true && others.size === 0) {
      this.#byResource.delete(resource);
      if (this.#packages.get(event)?.own !== undefined) this.#states?.unwatch(resource);
    }
    this.#freePlace(sipUserId);
    return true;
  }

  #save({ facts }: Subscription): void {
    const { id, sipUserId, expires } = facts;
    this.#options.store?.save({ id, sipUserId, expires, data: facts });
  }

  /** The proxy of its route set; the connection of the phone's registration; the sender of the SUBSCRIBE. */
  #nextHop({ route, sipUserId, dialog, source }: SubscriptionFacts): string | undefined {
    if (route !== undefined) return route;
    const registered = this.#options.location.contacts(sipUserId).find(({ contact }) => contact === dialog.target);
    return nextHopOf(registered ?? { contact: dialog.target, source });
  }

  #later(milliseconds: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, milliseconds).unref();
    this.#timers.add(timer);
  }
}

function idOf(callId: string, localTag: string, remoteTag: string, event: string, eventId: string): string {
  return [callId, localTag, remoteTag, event, eventId].join(' ');
}

/** The event and the key of a topic. */
function parted(topic: string): [event: string, key: string] {
  const space = topic.indexOf(' ');
  return [topic.slice(0, space), topic.slice(space + 1)];
}

/** Whether a phone with this Accept takes the type. */
function accepts(accept: readonly string[], type: string): boolean {
  const any = `${type.split('/')[0] ?? ''}/*`;
  return accept.length === 0 || accept.some((each) => each === type || each === any || each === '*/*');
}
