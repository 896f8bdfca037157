/** What the REST service needs from the node. */
import type { Logger } from 'pino';
import type { DomainName } from '../runtime/domain-name/index.ts';
import type { OperationRecord, Operations, RoomReader } from '../runtime/operations/index.ts';
import type { CallStore, ConferenceStore, DialogScope } from '../runtime/callstore/index.ts';
import type { Resource } from './collection/resource.ts';
import type { Directory, Registrations } from '../runtime/domain/index.ts';
import type { EventBus, SharedEvents } from '../runtime/events/index.ts';
import type { FirstAnswers } from '../runtime/idempotency/index.ts';
import type { Accounts, Avatars, Iam, Session } from '../runtime/iam/index.ts';
import type { AuditLog, Model, ModelCollection, Pages } from '../runtime/model/index.ts';
import type { SpentElsewhere } from '../runtime/rate/index.ts';
import type { ScenarioFigures } from '../runtime/history/index.ts';
import type { Agents, Queues, RunView } from '../runtime/runs/index.ts';
import type { ScriptStore } from '../runtime/script-store/index.ts';
import type { BodyLimits } from './http/body-pace.ts';
import type { HttpCertificate } from './http/secure-front.ts';
import type { SipWebSockets } from './sip-websocket.ts';
import type { Hooks } from './routes/hooks.ts';
import type { Workbench } from './routes/workbench.ts';
import type { Recording } from '../runtime/recording/index.ts';
import type { Prompts } from '../runtime/prompts/index.ts';
import type { VoiceMessages } from '../runtime/voicemail/index.ts';
import type { Webhooks } from '../runtime/webhooks/index.ts';

/** The drain of a node before its end. Times are in milliseconds since the epoch. */
export interface DrainState {
  /** `ending`: the drain is over, with what was left then. */
  readonly state: 'accepting' | 'draining' | 'ending';
  readonly calls: number;
  /** Runs of scenarios and operations with calls. */
  readonly runs: number;
  readonly since?: number;
  /** When the remaining calls are ended. */
  readonly until?: number;
}

/** Drains the node, which then ends. */
export interface DrainControl {
  readonly state: DrainState;
  /** @param limitMs time for the live calls to end, in milliseconds; undefined: the node's default */
  begin(limitMs: number | undefined): void;
  /** Accepts calls again; false when there is no drain in progress. */
  cancel(): boolean;
  /** Settles when the node does not drain any more, at the latest after the given milliseconds. */
  ended(withinMs: number): Promise<void>;
}

export interface Health {
  /** Calls can be made. */
  readonly ok: boolean;
  readonly roles: readonly string[];
  /** Numbers of live objects in the node, by kind: dialogs, endpoints, sockets, timers ... */
  readonly counts: Readonly<Record<string, number>>;
  /** The database: calls continue without it; requests that need it are answered 503. */
  readonly database: 'ok' | 'slow' | 'unavailable';
  /** The history of calls; absent on a node without one: whether ended calls wait for the database, and how many were dropped. */
  readonly history?: {
    readonly state: 'ok' | 'behind' | 'full';
    readonly waiting: number;
    readonly dropped: number;
  };
  /** The node's place in a cluster; absent on a single node. */
  readonly cluster?: { readonly state: 'ok' | 'away'; readonly node: string; readonly nodes: number };
}

/** A node of a cluster. */
export interface ClusterMember {
  /** Of its process. */
  readonly id: string;
  readonly node: string;
  readonly site: string;
  readonly roles: readonly string[];
  readonly version: string;
  /** URL of its REST service. */
  readonly http: string;
  /** Milliseconds since the epoch. */
  readonly started: number;
  readonly state: 'accepting' | 'draining' | 'ending';
  readonly load: { readonly calls: number; readonly runs: number; readonly subscriptions: number };
}

/** The cluster that the node belongs to. */
export interface ClusterView {
  readonly state: NonNullable<Health['cluster']>;
  /** This node first. */
  readonly members: readonly ClusterMember[];
}

/** Records of operations: while they run and for an hour afterwards. */
export interface OperationRecords {
  read(scope: DialogScope, id: string): OperationRecord | undefined | Promise<OperationRecord | undefined>;
  list(scope: DialogScope): readonly OperationRecord[] | Promise<readonly OperationRecord[]>;
}

/** Runs of scenarios with their traces, live and lately finished. */
export interface RunRecords {
  /** A run in progress, or one of the latest finished ones. */
  read(id: string): RunView | undefined;
  /** The same of another node of a cluster; absent on a single node. */
  readElsewhere?(id: string, domain: DomainName): Promise<RunView | undefined>;
  /** The runs of a domain in progress at this node, oldest first. */
  inProgress(domain: DomainName): readonly RunView[];
  /** Makes the next run of a scenario wait for a debugger; undefined for an unknown scenario. */
  debug(
    scenario: string,
    domain: DomainName,
    callerNumber: string,
  ): Promise<(DebuggedRun & { readonly port: number }) | 'not_allowed' | 'no_script' | undefined>;
  /** The scenarios of a domain whose next run waits for a debugger. */
  debugged(domain: DomainName): Promise<readonly DebuggedRun[]>;
  /** Cancels it; false when the scenario was not waiting. */
  undebug(scenario: string, domain: DomainName): boolean;
}

/** Pages of lists that change from moment to moment. */
export interface LivePages {
  readonly calls: Pages<DialogScope>;
  readonly conferences: Pages<DialogScope>;
  /** Those in progress. */
  readonly runs: Pages<DomainName>;
}

/** A scenario whose next run waits for a debugger. */
export interface DebuggedRun {
  readonly scenario: string;
  /** Number of the caller; empty: any run. */
  readonly callerNumber: string;
  /** End of the wait, milliseconds since the epoch. */
  readonly until: number;
}

/** A web application in the session data. */
export interface WebApp {
  readonly name: string;
  readonly description: string;
  readonly order: number;
  readonly icon: string;
  readonly 'fa-icon': string;
  readonly roles: string[];
  readonly url: string;
}

/** Web applications that the session's user may use, in output order. */
export type WebApps = (session: Session) => Promise<readonly WebApp[]>;

/** The history of calls, or of runs. */
export interface History {
  /** The records of a domain. @param domain id */
  collection(domain: string): Promise<Pick<ModelCollection, 'definition' | 'list' | 'listJson'>>;
}

/** The SIP messages of calls of the last hour. */
export interface Ladder {
  /**
   * @param id of the call, its dialog, a leg or its operation
   * @returns undefined for an unknown call, or one of other domains
   */
  of(domain: DomainName, id: string): Promise<object | undefined>;
}

/** Recorded calls: the index and the files. */
export interface Recordings {
  readonly archive: Pick<Recording['archive'], 'list' | 'count' | 'read' | 'remove'>;
  readonly store: Pick<Recording['store'], 'read' | 'remove'>;
}

/** Recordings made by scenarios, by domain and name. */
export interface ScenarioRecordings {
  /** The file; undefined for an unknown recording. */
  find(domain: DomainName, name: string): string | undefined;
  /** @returns false for an unknown recording */
  remove(domain: DomainName, name: string): Promise<boolean>;
}

/** Counts what subscribers of events lose. */
export interface SubscriberObserver {
  /** A subscriber read too slowly, and its connection ends. */
  subscriberDropped(transport: 'websocket' | 'sse'): void;
  /** A subscription resumed, and events were lost meanwhile. */
  eventsLost(): void;
}

/** Takes, converts and returns the files of prompts. */
export type PromptFiles = Pick<Prompts, 'limit' | 'receive' | 'discard' | 'fileOf' | 'read' | 'wavOf'>;

export interface RestDeps {
  /** Serves over TLS too. */
  readonly certificate?: HttpCertificate;
  /** SIP over WebSocket at `/sip`. */
  readonly sipWebSockets?: SipWebSockets;
  readonly recordings: Recordings;
  readonly scenarioRecordings: ScenarioRecordings;
  /** Voice messages in mailboxes. */
  readonly voicemail: Pick<VoiceMessages, 'list' | 'read' | 'mark' | 'remove' | 'content'>;
  readonly operationRecords: OperationRecords;
  readonly runs: RunRecords;
  /** The contacts of phones and gateways. */
  readonly registrations: Pick<Registrations, 'list' | 'remove'>;
  readonly iam: Iam;
  readonly accounts: Accounts;
  readonly avatars: Avatars;
  readonly webApps: WebApps;
  /** Collections by path below the base. */
  readonly collections: Readonly<Record<string, Resource>>;
  /** Versions of scripts; absent: they are kept and not shown. */
  readonly scripts?: ScriptStore;
  /** Absent: texts are neither drawn nor tested. */
  readonly workbench?: Workbench;
  readonly hooks: Hooks;
  /** Deliveries of webhooks; absent: they are kept and nothing is sent. */
  readonly webhooks?: Pick<Webhooks, 'deliveries' | 'test' | 'redeliver'>;
  /** Files of prompts; absent: prompts are listed and nothing is uploaded. */
  readonly prompts?: PromptFiles;
  /** The audit log; absent: changes are not logged. */
  readonly audit?: Pick<AuditLog, 'open' | 'write'>;
  /** The dynamic data model; its classes are one of the collections. */
  readonly model: Model;
  readonly directory: Pick<Directory, 'domain' | 'domains' | 'sipUsersOfUser'>;
  /** Requests of one session in a second; absent or 0: no limit. */
  readonly sessionRequests?: number;
  readonly events: EventBus;
  /** The events of all nodes; absent on a single node. */
  readonly sharedEvents?: SharedEvents;
  /** Requests of sessions at the other nodes; absent on a single node. */
  readonly requestsElsewhere?: SpentElsewhere;
  readonly calls: CallStore;
  /** Lists of which each node has a part; absent on a single node. */
  readonly pages?: LivePages;
  readonly history: History;
  /** Ended runs of scenarios, with their traces. */
  readonly runHistory: History;
  /** Figures of scenarios by the hour; absent: none are kept. */
  readonly scenarioFigures?: Pick<ScenarioFigures, 'read'>;
  /** Absent: the node keeps no SIP messages. */
  readonly ladder?: Ladder;
  readonly agents: Pick<Agents, 'get' | 'list' | 'set' | 'remove' | 'kept'>;
  /** Queues of callers. */
  readonly queues: Pick<Queues, 'list'>;
  readonly conferences: Pick<ConferenceStore, 'list' | 'read'>;
  readonly rooms: RoomReader;
  readonly operations: Pick<Operations, 'definitions' | 'start' | 'preview'>;
  /** For requests with an Idempotency-Key. */
  readonly firstAnswers: Pick<FirstAnswers, 'once'>;
  /** The node's figures for Prometheus. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> } & Partial<SubscriberObserver>;
  /** `health`: the state and the figures of the node alone, and SIP over WebSocket. Default: `all`. */
  readonly serves?: 'all' | 'health';
  readonly health: () => Promise<Health>;
  readonly drain: DrainControl;
  /** Absent on a single node. */
  readonly cluster?: ClusterView;
  readonly log: Logger;
  /** Addresses or networks (CIDR) of proxies whose X-Forwarded-For is believed. Default: none. */
  readonly trustProxy?: readonly string[];
  /** Greatest request body in bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
  /** Milliseconds for a request head to arrive. Default 10 000. */
  readonly headTimeoutMs?: number;
  /** Minimum pace of bodies. */
  readonly bodyLimits?: Partial<BodyLimits>;
}
