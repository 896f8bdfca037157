/** Several nodes as one system, over NATS. */
import { randomBytes } from 'node:crypto';
import type {
  CallIndex,
  FarewellIndex,
  MemoryCallStore,
  MemoryConferenceStore,
  ParticipantView,
} from '../callstore/index.ts';
import type { PersistentLocation } from '../domain/index.ts';
import type { EventBus } from '../events/index.ts';
import type { Operations } from '../operations/index.ts';
import type { DialogPort, MemoryHuntHistory, MemoryParkingLot, RunBook, ScenarioRunner } from '../runs/index.ts';
import type { Storage } from '../storage/index.ts';
import { ClusterCallStore } from './calls/cluster-callstore.ts';
import { ClusterDialogs } from './calls/cluster-dialogs.ts';
import { ClusterOperations, type ClusterStores } from './calls/cluster-operations.ts';
import { SharedContacts } from './contacts/shared-contacts.ts';
import { ClaimedStarts } from './claimed-starts.ts';
import { ClusterEvents } from './events/cluster-events.ts';
import { Interest } from './events/interest.ts';
import { ClusterFirstRequests } from './first-answers.ts';
import { Claims } from './loss/claims.ts';
import { LiveIndex, type Kind } from './loss/live-index.ts';
import { entriesOf, type Heir, Losses } from './loss/losses.ts';
import { Settlements } from './loss/settlements.ts';
import { Witness } from './loss/witness.ts';
import { SharedCounts } from './limits/shared-counts.ts';
import { SharedSpending } from './limits/shared-spending.ts';
import { Broadcast } from './link/broadcast.ts';
import { Copies } from './link/copies.ts';
import { NameOwners } from './link/name-owners.ts';
import { NatsLink, type NatsOptions } from './link/nats-link.ts';
import { Requests } from './link/requests.ts';
import { SharedKey } from './link/shared-key.ts';
import type { Log } from './log.ts';
import type { Member } from './members/member.ts';
import { Introduction } from './members/introduction.ts';
import { Membership } from './members/membership.ts';
import { type NodeAnswer, Nodes } from './nodes.ts';
import { ClusterConferences } from './rooms/cluster-conferences.ts';
import { type Bus, RunEvents } from './runs/run-events.ts';
import { RunMessages } from './runs/run-messages.ts';
import { RunRecords } from './runs/run-records.ts';
import { RunStarts } from './runs/run-starts.ts';
import { SharedParking } from './runs/shared-parking.ts';
import { SharedHunts } from './runs/shared-hunts.ts';
import { type QueueNeeds, SharedQueues } from './runs/shared-queues.ts';
import { WaitingRuns } from './runs/waiting-runs.ts';
import { SharedStates } from './watched/shared-states.ts';
import type { OwnStates } from './watched/states.ts';

/** Milliseconds that a start waits for NATS; without it the node starts alone. */
const START_MS = 3000;

export interface ClusterState {
  /** `ok`: this node sees the others; `away`: it works alone until NATS is back. */
  readonly state: 'ok' | 'away';
  /** The name of this node. */
  readonly node: string;
  /** Living nodes, this one included. */
  readonly nodes: number;
}

/** Wrong passwords, as the switch counts them. */
export interface Failures {
  fail(address: string, account: string, elsewhere: boolean): unknown;
  tellFailures(tell: (address: string, account: string) => void): void;
}

/** Learns of INVITEs from their begin to their final answer. */
export interface InviteIndex<Invite> {
  sent(invite: Invite): void;
  settled(transaction: string): void;
}

/** What the switch needs of the cluster. */
export interface ClusterNodeLink {
  readonly self: string;
  serve(method: string, handler: (asked: unknown) => unknown): void;
  ask(id: string, method: string, asked: unknown, timeoutMs: number): Promise<unknown>;
  askAll<Answer>(method: string, asked: unknown): Promise<readonly NodeAnswer<Answer>[]>;
  gone(id: string): AbortSignal;
  isSettled(id: string): boolean;
  onSettled(listener: { settled(id: string): void; returned(id: string): void }): void;
  roomOwner(domain: string, number: string): Promise<string>;
  findRoom(domain: string, number: string): Promise<string | undefined>;
  withRole(role: string): readonly string[];
  releaseRoom(domain: string, number: string): void;
  shareStates(own: OwnStates): SharedStates;
}

/** A node's place in the cluster. */
export class Cluster {
  /** Of this process. */
  readonly id: string;
  readonly #node: string;
  readonly #link: NatsLink;
  readonly #members: Membership;
  readonly #introduction: Introduction;
  readonly #nodes: Nodes;
  readonly #copies: Copies;
  readonly #digestKey: SharedKey;
  readonly #rooms: NameOwners;
  readonly #log: Log;
  readonly #index: LiveIndex;
  readonly #interest: Interest;
  readonly #settlements = new Settlements();
  #contacts: SharedContacts | undefined;
  #losses: Losses | undefined;
  #queues: SharedQueues | undefined;
  #hunts: SharedHunts | undefined;
  #events: ClusterEvents | undefined;
  #slots: NameOwners | undefined;
  #waiting: WaitingRuns | undefined;
  #counts: readonly SharedCounts[] = [];

  private constructor(options: NatsOptions, log: Log) {
    this.id = randomBytes(9).toString('hex');
    this.#node = options.name;
    this.#log = log;
    this.#link = new NatsLink(options, log);
    this.#members = new Membership(this.#link, this.id, log);
    const requests = new Requests(this.#link, this.id, log);
    this.#introduction = new Introduction(this.#members, requests, log);
    this.#nodes = new Nodes(requests, this.#members);
    this.#copies = new Copies(this.#link, log);
    this.#digestKey = new SharedKey(this.#link, 'digest', log);
    this.#index = new LiveIndex(this.#link, this.id, log);
    this.#interest = new Interest(this.#link, this.#nodes, log);
    this.#rooms = this.#nameOwners('ringmaster_rooms');
  }

  /**
   * Connects to NATS, and goes on without it where it does not answer in time.
   * @throws when a file of credentials or certificates cannot be read
   */
  static async open(options: NatsOptions, log: Log): Promise<Cluster> {
    const cluster = new Cluster(options, log);
    const connected = Promise.withResolvers<void>();
    cluster.#link.onUp(connected.resolve);
    cluster.#link.open();
    const timer = setTimeout(() => {
      log.warn({ seconds: START_MS / 1000 }, 'NATS does not answer: the node starts alone');
      connected.resolve();
    }, START_MS);
    await connected.promise;
    clearTimeout(timer);
    return cluster;
  }

  /** Shares the contacts of phones with the other nodes. */
  shareContacts(location: PersistentLocation): void {
    this.#contacts = new SharedContacts(this.#link, location, this.#log);
  }

  /** The events of all nodes, for subscribers. @param bus the events of this node */
  shareEvents(bus: EventBus): ClusterEvents {
    this.#events = new ClusterEvents({
      bus,
      link: this.#link,
      id: this.id,
      interest: this.#interest,
      log: this.#log,
    });
    return this.#events;
  }

  /** Counts wrong SIP passwords together: a SIP server brings each attempt to another node. */
  shareFailures(ban: Failures): void {
    const others = new Broadcast(this.#link, this.id, 'sip-passwords', (message) => {
      const { address, account } = message as { readonly address: string; readonly account: string };
      ban.fail(address, account, true);
    });
    ban.tellFailures((address, account) => others.tell({ address, account }));
  }

  /**
   * Counts the calls of providers and of domains together.
   * @param isLimited whether a domain has a limit; calls of the others are told to nobody
   */
  shareCallCounts(calls: MemoryCallStore, isLimited: (domain: string) => boolean): void {
    const provider = new SharedCounts(this.#link, this.id, 'provider-calls', () => calls.countsOf('provider'));
    const limited = () => new Map([...calls.countsOf('domain')].filter(([domain]) => isLimited(domain)));
    const domain = new SharedCounts(this.#link, this.id, 'domain-calls', limited);
    calls.countElsewhere({
      provider,
      domain: {
        elsewhere: (name) => domain.elsewhere(name),
        changed: (names) => domain.changed(names.filter(isLimited)),
      },
    });
    this.#counts = [provider, domain];
  }

  /** What all nodes spend of rates. @param topic one word */
  spending(topic: string): SharedSpending {
    return new SharedSpending(this.#link, this.id, topic);
  }

  /** The dialogs of all nodes. */
  callstore(local: MemoryCallStore): ClusterCallStore {
    return new ClusterCallStore(local, this.#nodes);
  }

  /** The parties of the dialogs of all nodes. */
  dialogs(local: DialogPort): ClusterDialogs {
    return new ClusterDialogs(local, this.#nodes);
  }

  /** The conferences of all nodes. @param participants of a conference of this node */
  conferences(
    local: MemoryConferenceStore,
    calls: ClusterCallStore,
    participants: (confid: string) => readonly ParticipantView[] | undefined,
  ): ClusterConferences {
    return new ClusterConferences(local, calls, this.#nodes, participants);
  }

  /**
   * Operations on the dialogs and conferences of all nodes.
   * @param startsCalls false: those that start calls run at other nodes
   */
  operations(local: Operations, stores: ClusterStores, startsCalls: boolean): ClusterOperations {
    const callNode = startsCalls ? undefined : () => this.#members.accepting('b2b')[0]?.id;
    return new ClusterOperations(local, stores, this.#nodes, callNode);
  }

  /** Lets calls go to the nodes of what they lead to. */
  nodeLink(): ClusterNodeLink {
    const rooms = this.#rooms;
    return {
      self: this.id,
      serve: (method, handler) => this.#nodes.serve(method, handler),
      ask: (id, method, asked, timeoutMs) => this.#nodes.ask(id, method, asked, timeoutMs),
      askAll: (method, asked) => this.#nodes.askAll(method, asked),
      gone: (id) => this.#members.goneSignal(id),
      isSettled: (id) => this.#settlements.has(id),
      onSettled: (listener) => this.#settlements.listen(listener),
      roomOwner: (domain, number) => rooms.owner(domain, number),
      findRoom: (domain, number) => rooms.find(domain, number),
      withRole: (role) => this.#members.accepting(role).map(({ id }) => id),
      releaseRoom: (domain, number) => rooms.release(domain, number),
      shareStates: (own) =>
        new SharedStates(own, {
          link: this.#link,
          members: this.#members,
          nodes: this.#nodes,
          settlements: this.#settlements,
          id: this.id,
          log: this.#log,
        }),
    };
  }

  /** Lets one node make each start by schedule. */
  startClaims(storage: Storage): (name: string) => Promise<boolean> {
    const claims = new ClaimedStarts(storage);
    return (name) => claims.claim(name);
  }

  /** Lets runs send messages to those of other nodes, and wait for their end. */
  shareRuns(book: RunBook): void {
    // oxlint-disable-next-line no-new -- it answers the other nodes, and is known to the book
    new RunMessages(book, this.#nodes);
  }

  /** The events of all nodes, for runs. */
  runEvents(bus: Bus): RunEvents {
    return new RunEvents(bus, this.#link, this.id, this.#interest);
  }

  /** Runs that wait without a call, for a living node to go on with. @param isFull true while this node takes none */
  waitingRuns(storage: Storage, isFull: () => boolean): WaitingRuns {
    this.#waiting = new WaitingRuns({ storage, members: this.#members, id: this.id, isFull, log: this.#log });
    return this.#waiting;
  }

  /** Starts of runs at other nodes. */
  runStarts(): RunStarts {
    return new RunStarts(this.#nodes, this.#members);
  }

  /** Lets hunt groups count the calls of all nodes. */
  shareHunts(history: MemoryHuntHistory): void {
    this.#hunts = new SharedHunts(this.#link, this.id, history, this.#log);
  }

  /** The parked calls of all nodes. */
  parking(local: MemoryParkingLot): SharedParking {
    this.#slots = this.#nameOwners('ringmaster_parking');
    return new SharedParking(local, this.#slots, this.#nodes);
  }

  /** The queues and agents of all nodes. */
  queues(needs: QueueNeeds): SharedQueues {
    const place = { link: this.#link, members: this.#members, nodes: this.#nodes, id: this.id, log: this.#log };
    this.#queues = new SharedQueues(needs, place);
    return this.#queues;
  }

  /** The live runs of all nodes. */
  runRecords(local: ScenarioRunner): RunRecords {
    return new RunRecords(local, this.#nodes);
  }

  /** Requests with an Idempotency-Key at all nodes. */
  firstRequests(): ClusterFirstRequests {
    return new ClusterFirstRequests(this.id, this.#nodes);
  }

  /** Keeps the calls of this node for the others. */
  get callIndex(): CallIndex {
    return entriesOf('call', this.#index, (id) => this.#losses?.endedElsewhere(id) ?? false);
  }

  /** Keeps the ends of the conferences of this node for the others. */
  get farewellIndex(): FarewellIndex {
    return entriesOf('farewell', this.#index, (id) => this.#losses?.endedElsewhere(id) ?? false);
  }

  /** Keeps INVITEs without a final answer for the others. @param kind `ringing`: sent to phones; `waiting`: of callers */
  inviteIndex<Invite extends { readonly transaction: string }>(
    kind: Exclude<Kind, 'call' | 'farewell'>,
  ): InviteIndex<Invite> {
    return {
      sent: (invite) => this.#index.set(kind, invite.transaction, () => invite),
      settled: (transaction) => this.#index.remove(kind, transaction),
    };
  }

  /**
   * Takes care of what dead nodes leave, from now on.
   * @param options.live whether a call lives at this node
   */
  inherit({ storage, heir, live }: { storage: Storage; heir: Heir; live: (inviteid: string) => boolean }): void {
    this.#losses = new Losses({
      id: this.id,
      members: this.#members,
      nodes: this.#nodes,
      settlements: this.#settlements,
      index: this.#index,
      claims: new Claims(storage, this.id),
      whenSent: (callback) => (this.#events === undefined ? callback() : this.#events.whenSent(callback)),
      witness: new Witness(storage),
      heir,
      live,
      log: this.#log,
    });
  }

  /**
   * Takes care of an earlier process of this node, unless another node does.
   * @param id of the process
   * @param calls ids of its calls
   * @returns those of them that no node has
   */
  async settleEarlier(id: string, calls: readonly string[]): Promise<readonly string[]> {
    return (await this.#losses?.settleEarlier({ id, node: this.#node }, calls)) ?? [];
  }

  /** The key of digest challenges: one node makes them, another may get the answer. */
  readonly digestKey = (): Uint8Array => this.#digestKey.current;

  /**
   * Begins to tell the others of this node: it can be asked from now on.
   * @param self called at each heartbeat
   * @returns settles when the nodes know each other, or NATS takes too long
   */
  async join(self: () => Omit<Member, 'id' | 'node'>): Promise<void> {
    const member = (): Member => ({ id: this.id, node: this.#node, ...self() });
    await this.#introduction.join(member, this.#link.connection !== undefined);
    this.#interest.joined();
  }

  get state(): ClusterState {
    const isConnected = this.#members.isConnected;
    return {
      state: isConnected ? 'ok' : 'away',
      node: this.#node,
      nodes: isConnected ? this.#members.others.length + 1 : 1,
    };
  }

  /** The living nodes, this one first. While NATS is away: this one, and those that were there before. */
  get members(): readonly Member[] {
    const { self, others } = this.#members;
    const sorted = others.toSorted((a, b) => (a.node < b.node ? -1 : 1));
    return self === undefined ? sorted : [self, ...sorted];
  }

  /** True while another node takes calls from the SIP servers. */
  get othersTakeCalls(): boolean {
    return this.#members.accepting('b2b').length > 0;
  }

  /** True while a living node has this role. */
  has(role: string): boolean {
    return this.members.some(({ roles }) => roles.includes(role));
  }

  /** Tells the others that this node leaves: it is asked nothing any more. */
  async leave(): Promise<void> {
    this.#waiting?.close();
    await this.#queues?.leave();
    await this.#members.leave();
  }

  async close(): Promise<void> {
    this.#contacts?.close();
    this.#hunts?.close();
    this.#events?.close();
    this.#interest.close();
    for (const counts of this.#counts) counts.close();
    this.#copies.close();
    this.#digestKey.close();
    this.#losses?.close();
    await this.#index.close();
    this.#rooms.close();
    this.#slots?.close();
    await this.#link.close();
  }

  #nameOwners(bucket: string): NameOwners {
    return new NameOwners(this.#link, bucket, this.id, (id) => !this.#members.goneSignal(id).aborted, this.#log);
  }
}
