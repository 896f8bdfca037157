import type { DomainName } from '../domain-name/index.ts';
import type { Conferences } from '../conference/index.ts';
import type { Directory, LocationStore, RouteDecision } from '../domain/index.ts';
import type { CallPort } from '../runs/index.ts';
import type { EndpointServer, MediaEndpoint, PlacedEndpointWish } from '../media/index.ts';
import type {
  Log,
  OutgoingInvite,
  OutgoingInviteOptions,
  OutgoingMessageOptions,
  ReferAnswer,
  ReferRequest,
  SipAnswer,
} from '../signalling/index.ts';
import type { Stir } from '../stir/index.ts';
import type { Attempt, AttemptOptions } from './placing/attempt.ts';
import type { GatewayChoice } from './esg/gateways.ts';
import type { ListenTo } from './sound/call-media.ts';
import type { CallObserver } from './placing/call-observer.ts';
import type { LoopCount } from './placing/loop-count.ts';
import type { DialogBook } from './dialogs/dialog-book.ts';
import type { PhoneLeg } from './legs/phone-leg.ts';
import type { Elsewhere } from './placing/elsewhere.ts';

/** The services that the parts of the switch share; made once per node. */
export interface SwitchTools {
  readonly directory: Directory;
  readonly location: LocationStore;
  readonly dialogs: DialogBook;
  readonly conferences: Conferences;
  /** Calls and rooms of the other nodes; undefined on a single node. */
  readonly others?: Elsewhere | undefined;
  /** The gateways of providers. */
  readonly gateways: GatewayChoice;
  /** Counts the calls between scenarios, and from scenarios to conferences. */
  readonly loops: LoopCount;
  /** Name of the site that serves the dialogs. */
  readonly site: string;
  /** False: conference rooms are at other nodes. */
  readonly keepsRooms: boolean;
  /** False: other nodes run the scenarios that are called. */
  readonly runsScenarios: boolean;
  readonly log: Log;
  /** Whether the host of a URI means this platform when a party of the domain names it. */
  isHere(host: string, domain: DomainName): boolean;
  invite(options: OutgoingInviteOptions): OutgoingInvite;
  /** Sends a MESSAGE outside any call; never rejects. */
  message(options: OutgoingMessageOptions): Promise<SipAnswer>;
  /** The SIP server for calls to addresses that name none. */
  sipServer(): string | undefined;
  createEndpoint(wish: PlacedEndpointWish): Promise<MediaEndpoint>;
  /** The media server of a node with only one; undefined with several. */
  readonly onlyMediaServer: () => EndpointServer | undefined;
  mediaServer(name: string): EndpointServer | undefined;
  /** Starts the call that a route decision asks for. */
  placeCall(decision: RouteDecision, options: AttemptOptions): Attempt;
  /** Handles the REFER of a phone. @returns the answer to it */
  refer(leg: PhoneLeg, request: ReferRequest): ReferAnswer | Promise<ReferAnswer>;
  /** Starts a scenario for a call; false for an unknown code. */
  startScenario(code: string, call: CallPort, language?: string): Promise<boolean>;
  /** Signs and verifies calls; undefined on a node without keys and roots. */
  readonly stir?: Stir | undefined;
  /** Receives the answers to calls with providers and to scenarios. */
  readonly observer?: CallObserver | undefined;
  /** Speech recognition; undefined on a node without it. */
  readonly listenTo: ListenTo | undefined;
  /** Logs the failure of work that nothing awaits. */
  failed(err: unknown, what: string, leg: { callid: string }): void;
  /** Follows work that outlives its call: a failure is logged, and a stopping node waits for it. */
  background(work: Promise<unknown>, what: string, leg: { callid: string }): void;
}
