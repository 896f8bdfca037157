/** The b2b role of a node: puts its parts together. */
import type { DomainName } from '../domain-name/index.ts';
import type { CallFacts, CallHistory, CallIndex, MemoryCallStore } from '../callstore/index.ts';
import type { Conferences } from '../conference/index.ts';
import type { Directory, LocationStore } from '../domain/index.ts';
import type { CallPort, CallPreview, DialledCall, OwnCall, TextPort } from '../runs/index.ts';
import { MediaError, type MediaServers } from '../media/index.ts';
import type {
  IncomingInvite,
  Log,
  SipHandlers,
  SipLinks,
  SipDialogPlace,
  SrfRequest,
  SrfResponse,
} from '../signalling/index.ts';
import type { Overload } from './incoming/admission.ts';
import type { SetupQueue } from './incoming/setup-queue.ts';
import { AdoptedCalls, LOST_SILENCE_S } from './adopted/adopted-calls.ts';
import { Authentication, type SenderLimits } from './registrations/authentication.ts';
import type { ListenTo } from './sound/call-media.ts';
import type { CallObserver } from './placing/call-observer.ts';
import { LoopCount } from './placing/loop-count.ts';
import { limitReached } from './dialogs/domain-limit.ts';
import { DialogBook, type DialogEvents } from './dialogs/dialog-book.ts';
import { LiveConferences } from './ports/conference-control.ts';
import type { CallWatcher, LiveCall } from './dialogs/live-call.ts';
import { LiveDialogs } from './ports/dialog-control.ts';
import { takeIncomingCall } from './incoming/incoming-call.ts';
import type { Stir } from '../stir/index.ts';
import { type KnownTrunk, type TrunkListeners, Trunks } from './esg/trunks.ts';
import { OwnHosts } from './addresses/own-hosts.ts';
import { IvrCall } from './scenarios/ivr-call.ts';
import type { NodeLink } from './lines/node-link.ts';
import { OtherNodes } from './nodes/other-nodes.ts';
import { receive } from './nodes/receiver.ts';
import { placeCall } from './place-call.ts';
import { previewCall } from './placing/preview-call.ts';
import { Registrar } from './registrations/registrar.ts';
import { transferByPhone } from './transfers/phone-refer.ts';
import { type ReceivedText, TextMessages } from './incoming/text-messages.ts';
import { BusyLamps } from './subscriptions/busy-lamps.ts';
import { conferencePackage, roomKey } from './subscriptions/conference-info.ts';
import type { Elsewhere } from './subscriptions/event-package.ts';
import { Presence } from './subscriptions/presence.ts';
import { regPackage } from './subscriptions/reg-info.ts';
import { type CountMessages, mailboxKey, messageSummaryPackage } from './subscriptions/message-summary.ts';
import { Subscriptions, type SubscriptionStore } from './subscriptions/subscriptions.ts';
import type { SwitchTools } from './tools.ts';

/** What a node does with calls. One that does not is asked in vain: the other nodes do it. */
export interface CallDuties {
  /** Keeps conference rooms. */
  readonly rooms: boolean;
  /** Registers with providers. */
  readonly trunks: boolean;
  /** Runs the scenarios that are called. */
  readonly scenarios: boolean;
}

export interface SwitchOptions {
  readonly directory: Directory;
  readonly location: LocationStore;
  readonly callstore: MemoryCallStore;
  readonly conferences: Conferences;
  readonly site: string;
  /** Name of this node, the same after a restart, and another one for each node. */
  readonly node: string;
  readonly log: Log;
  /** Receives the call events of dialogs. */
  readonly events: DialogEvents;
  /** Absent: all of them. */
  readonly duties?: CallDuties;
  /** The limit that refuses new calls now, if any; absent: the node has no limits. */
  readonly overload?: () => Overload | undefined;
  /** A new call has come, also one that is refused at once. */
  readonly came?: (waitedMs: number) => void;
  /** Bounds requests that need a password. */
  readonly senders: SenderLimits;
  /** Measures the set-up of calls. */
  readonly setups: SetupQueue;
  /** True while `overload` refuses every call because the node drains. */
  readonly draining?: () => boolean;
  /** Follows answered calls to their end. */
  readonly watcher?: CallWatcher;
  /** Receives the answers to calls with providers and to scenarios. */
  readonly observer?: CallObserver | undefined;
  /** Keeps what happened in each call. */
  readonly history?: CallHistory;
  /** Keeps the calls for other nodes; absent on a single node. */
  readonly index?: CallIndex | undefined;
  /** Receives changes of the state of providers. */
  readonly onTrunk?: TrunkListeners['trunk'];
  readonly onGateway?: TrunkListeners['gateway'];
  /** Signs and verifies calls with providers. */
  readonly stir?: Stir | undefined;
  /** Speech recognition for scenarios. */
  readonly listenTo?: ListenTo;
  /** Counts voice messages, for message lamps. */
  readonly countMessages: CountMessages;
  /** Keeps subscriptions for the next start; absent: they end with the process. */
  readonly subscriptionStore?: SubscriptionStore;
  /** Receives the texts that phones send to each other. */
  readonly onText?: (text: ReceivedText) => void;
  /** The other nodes of the cluster; absent on a single node. */
  readonly nodes?: NodeLink | undefined;
  /** Starts a scenario for a call; false for an unknown code. */
  startScenario(code: string, call: CallPort, language?: string): Promise<boolean>;
}

const ALL_DUTIES: CallDuties = { rooms: true, trunks: true, scenarios: true };
/** Milliseconds that a stopping node waits for the answers of phones and providers. */
const SHUTDOWN_MS = 2000;

/** The b2b role of a node: registrar, routing, calls between phones and scenarios, transfers. */
export class Switch implements SipHandlers {
  readonly #dialogs: DialogBook;
  readonly #callstore: MemoryCallStore;
  readonly #overload: SwitchOptions['overload'];
  readonly #came: SwitchOptions['came'];
  readonly #draining: SwitchOptions['draining'];
  readonly #duties: CallDuties;
  readonly #adopted: AdoptedCalls;
  readonly #live: LiveDialogs;
  readonly #conferences: LiveConferences;
  readonly #tools: SwitchTools;
  readonly #authentication: Authentication;
  readonly #registrar: Registrar;
  readonly #trunks: Trunks;
  readonly #texts: TextMessages;
  readonly #subscriptions: Subscriptions;
  readonly #presence: Presence;
  readonly #others: OtherNodes | undefined;
  #links: { sip: SipLinks; media: MediaServers } | undefined;
  readonly #background = new Set<Promise<void>>();
  #stopping = false;

  constructor(options: SwitchOptions) {
    const { directory, location, callstore, conferences, site, log, events } = options;
    const { digestKey } = options.senders;
    const lamps = new BusyLamps((id) => {
      for (const event of ['dialog', 'presence']) this.#subscriptions.ownChanged(event, id);
    });
    this.#callstore = callstore;
    this.#dialogs = new DialogBook(callstore, events, { ...options, lamps });
    this.#trunks = new Trunks(directory, location, log, {
      node: options.node,
      registers: (options.duties ?? ALL_DUTIES).trunks,
      ...(digestKey && { key: digestKey }),
      trunk: options.onTrunk,
      gateway: options.onGateway,
    });
    const ownHosts = new OwnHosts(
      (host) => this.#links?.sip.listensAt(host) === true,
      (host) => directory.domain(host)?.name,
    );
    this.#authentication = new Authentication(directory, location, this.#trunks, ownHosts, options.senders, log);
    this.#registrar = new Registrar(this.#authentication, location, log);
    this.#overload = options.overload;
    this.#came = options.came;
    this.#draining = options.draining;
    this.#duties = options.duties ?? ALL_DUTIES;
    const failed: SwitchTools['failed'] = (err, what, { callid }) => {
      // A status below 500 refuses a phone's request: no fault of the node.
      if (err instanceof MediaError && err.status < 500) log.info({ reason: err.message, callid }, `${what} refused`);
      else log.error({ err, callid }, `${what} failed`);
    };
    const { history } = options;
    this.#adopted = new AdoptedCalls({
      store: callstore,
      events,
      history,
      index: options.index,
      lamps,
      log,
      servers: () => this.#connected(),
      phones: () => this.#others?.phones,
    });
    this.#live = new LiveDialogs(this.#dialogs, { failed }, this.#adopted);
    const tools: SwitchTools = {
      directory,
      location,
      dialogs: this.#dialogs,
      conferences,
      gateways: this.#trunks.gateways,
      loops: new LoopCount(),
      site,
      keepsRooms: this.#duties.rooms,
      runsScenarios: this.#duties.scenarios,
      log,
      isHere: (host, domain) => ownHosts.isHere(host, domain),
      invite: (invite) => this.#connected().sip.invite(invite),
      message: (message) => this.#connected().sip.message(message),
      sipServer: () => this.#connected().sip.next(),
      createEndpoint: (wish) => options.setups.measure(() => this.#connected().media.createEndpoint(wish)),
      onlyMediaServer: () => this.#connected().media.only,
      mediaServer: (name) => this.#connected().media.named(name),
      placeCall: (decision, attempt) => placeCall(this.#tools, decision, attempt),
      refer: (leg, request) => transferByPhone(this.#tools, leg, request),
      observer: options.observer,
      stir: options.stir,
      listenTo: options.listenTo,
      startScenario: (code, call, language) => options.startScenario(code, call, language),
      failed,
      background: (work, what, leg) => {
        const settled: Promise<void> = work.then(
          () => void this.#background.delete(settled),
          (err: unknown) => {
            this.#background.delete(settled);
            this.#tools.failed(err, what, leg);
          },
        );
        this.#background.add(settled);
      },
    };
    this.#others =
      options.nodes &&
      new OtherNodes(options.nodes, tools, {
        adopt: (place) => this.#connected().sip.adopt(place, LOST_SILENCE_S),
        release: (place) => this.#releaseLost(place),
      });
    this.#tools = this.#others === undefined ? tools : { ...tools, others: this.#others };
    if (this.#others !== undefined) receive(this.#tools, this.#others);
    this.#conferences = new LiveConferences(this.#tools);
    this.#texts = new TextMessages(this.#tools, this.#authentication, options.onText);
    const elsewhere =
      <State>(event: string): Elsewhere<State> =>
      (key) =>
        this.#subscriptions.elsewhere<State>(event, key);
    this.#presence = new Presence({
      tools: this.#tools,
      location,
      authentication: this.#authentication,
      isOnThePhone: (id) => lamps.isOnThePhone(id),
      changed: (event, key) => this.#subscriptions.ownChanged(event, key),
      elsewhere: elsewhere('presence'),
      nodes: options.nodes,
    });
    location.onChange((id) => {
      for (const event of ['presence', 'reg']) this.#subscriptions.changed(event, id);
    });
    this.#subscriptions = new Subscriptions({
      tools: this.#tools,
      location,
      authentication: this.#authentication,
      packages: [
        messageSummaryPackage(directory, options.countMessages),
        lamps.package(directory, elsewhere('dialog')),
        this.#presence.package(directory),
        regPackage(directory, location),
        conferencePackage(conferences, elsewhere('conference')),
      ],
      notify: (notify) => this.#connected().sip.notify(notify),
      store: options.subscriptionStore,
      nodes: options.nodes,
      log,
    });
  }

  /** Connects the switch to its servers. Calls are possible from now on. */
  connect(sip: SipLinks, media: MediaServers): void {
    this.#links = { sip, media };
    this.#trunks.start(sip);
    this.#subscriptions.resume().catch((err: unknown) => this.#tools.log.error({ err }, 'subscriptions do not go on'));
  }

  /** True when calls are possible: both servers are connected, and the node is not stopping. */
  get ready(): boolean {
    return !this.#stopping && this.#links?.sip.connected === true && this.#links.media.connected;
  }

  came(waitedMs: number): void {
    this.#came?.(waitedMs);
  }

  invite(invite: IncomingInvite): void {
    // An INVITE with Replaces continues an existing call, so the limits do not apply.
    const overload = invite.header('Replaces') === undefined ? this.#overload?.() : undefined;
    if (!this.ready) invite.reject(503, undefined, { 'Retry-After': '5' });
    else if (overload) invite.reject(503, undefined, { 'Retry-After': String(overload.retryAfterSeconds) });
    else takeIncomingCall(this.#tools, this.#authentication, this.#trunks, invite);
  }

  register(req: SrfRequest, res: SrfResponse, via: string): void {
    this.#registrar.register(req, res, via);
  }

  message(req: SrfRequest, res: SrfResponse): void {
    if (this.ready) this.#texts.take(req, res);
    else res.send(503, { headers: { 'Retry-After': '5' } });
  }

  subscribe(req: SrfRequest, res: SrfResponse, via: string): void {
    if (this.ready) this.#subscriptions.take(req, res, via);
    else res.send(503, { headers: { 'Retry-After': '5' } });
  }

  publish(req: SrfRequest, res: SrfResponse): void {
    if (this.ready) this.#presence.publish(req, res);
    else res.send(503, { headers: { 'Retry-After': '5' } });
  }

  /** Number of states that phones publish. */
  get publications(): number {
    return this.#presence.publications;
  }

  /** Number of subscriptions of phones. */
  get subscriptions(): number {
    return this.#subscriptions.count;
  }

  /** Goes on with the subscriptions of another process, unless a third one does. */
  takeOverSubscriptions(node: string): Promise<void> {
    return this.#subscriptions.takeOver(node);
  }

  /** The process was not dead. */
  giveBackSubscriptions(node: string): Promise<void> {
    return this.#subscriptions.giveBack(node);
  }

  /** Phones of this node's SIP connections whose calls are at other nodes. */
  get lentPhones(): number {
    return this.#others?.lent ?? 0;
  }

  /** The number of voice messages in a mailbox has changed. */
  messagesChanged(domain: DomainName, number: string): void {
    this.#subscriptions.changed('message-summary', mailboxKey(domain, number));
  }

  /** The participants of a room have changed, or it is over. @param number to dial */
  roomChanged(domain: DomainName, number: string): void {
    this.#subscriptions.ownChanged('conference', roomKey(domain, number));
  }

  /** Any mailbox may have changed. */
  allMessagesChanged(): void {
    this.#subscriptions.changed('message-summary');
  }

  /** True while calls can be made from outside: what OPTIONS asks. */
  get acceptsCalls(): boolean {
    return this.ready && this.#draining?.() !== true;
  }

  /** Sends texts of scenarios. */
  get texts(): TextPort {
    return this.#texts;
  }

  /** A call that a scenario may place, in the name of a domain. */
  createCall(domain: DomainName, forCaller = false): OwnCall {
    return IvrCall.idle(this.#tools, domain, forCaller);
  }

  /** The limit of a domain that has as many calls as it may have; else undefined. */
  limitReached(domain: DomainName): number | undefined {
    return limitReached(this.#tools, domain);
  }

  /** Where a call would go, and which phones would ring. */
  previewCall(call: DialledCall): CallPreview {
    return previewCall(this.#tools, call);
  }

  /** Number of providers with which this node is registered. */
  get registeredTrunks(): number {
    return [...this.#trunks.states().values()].filter(({ state }) => state === 'registered').length;
  }

  /** A connection that this node registered over has ended. */
  connectionLost(far: { readonly address: string; readonly port: number }): void {
    this.#trunks.connectionLost(far);
  }

  /** What this node knows of the enabled provider with this id. */
  trunk(id: string): Omit<KnownTrunk, 'provider'> | undefined {
    return this.#trunks.status(id);
  }

  /** What this node knows of its enabled providers. */
  trunks(): readonly KnownTrunk[] {
    return this.#trunks.statuses();
  }

  /** The live conferences, as operations on them see and change them. */
  get conferences(): LiveConferences {
    return this.#conferences;
  }

  /** True for a live call of this node. @param inviteid of the call */
  hasCall(inviteid: string): boolean {
    return this.#callstore.hasCall(inviteid) || this.#others?.isPlacing(inviteid) === true;
  }

  /** The live dialogs, as operations on them see and change them. */
  get dialogs(): LiveDialogs {
    return this.#live;
  }

  /** The live call of this id with its media. */
  liveCall(dialogid: string): LiveCall | undefined {
    return this.#dialogs.live(dialogid);
  }

  /** True for the number of a sipuser with a call of any kind, also one that rings. */
  isOnCall(domain: DomainName, number: string): boolean {
    return this.#callstore.selected({ domain }, { sipuserphonenumber: number }).length > 0;
  }

  /** The facts of the live calls with this id: of the call, its dialog, a leg, or its operation. */
  factsOf(id: string): readonly CallFacts[] {
    return this.#dialogs.factsOf(id);
  }

  /** The answered call of the leg with this Call-ID. */
  callOfLeg(callid: string): LiveCall | undefined {
    const found = this.#dialogs.findByCallId(callid);
    return found === undefined ? undefined : this.#dialogs.live(found.dialog.dialogid);
  }

  /** Calls of dead nodes that this node ends or goes on with. */
  get adopted(): AdoptedCalls {
    return this.#adopted;
  }

  /** Refuses new calls, ends the live ones, and waits up to two seconds for the answers to BYE and REGISTER. */
  async shutDown(): Promise<void> {
    this.#stopping = true;
    this.#subscriptions.close();
    this.#presence.close();
    for (const dialog of this.#dialogs.all())
      dialog.end({ by: 'external', status: 503, reason: 'Service Unavailable' });
    this.#adopted.close();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SHUTDOWN_MS);
    });
    await Promise.race([Promise.all([...this.#background, this.#trunks.close(), this.#others?.close()]), late]);
    clearTimeout(timer);
  }

  /** Hangs up a phone that a dead node has left. */
  #releaseLost(place: SipDialogPlace): void {
    const dialog = this.#connected().sip.adopt(place, LOST_SILENCE_S);
    const bye = dialog?.bye({ Reason: 'SIP;cause=500;text="Node lost"' });
    if (bye !== undefined) this.#tools.background(bye, 'BYE', { callid: place.callId });
  }

  #connected(): { sip: SipLinks; media: MediaServers } {
    if (this.#links === undefined) throw new Error('the switch is not connected to its servers yet');
    return this.#links;
  }
}
