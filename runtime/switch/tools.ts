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
import type { Attempt, AttemptOptions } from './placing/attempt.ts';
import type { ListenTo } from './sound/call-media.ts';
import type { LoopCount } from './placing/loop-count.ts';
import type { DialogBook } from './dialogs/dialog-book.ts';
import type { PhoneLeg } from './legs/phone-leg.ts';

/** What the parts of the switch work with; made once per node. */
export interface SwitchTools {
  readonly directory: Directory;
  readonly location: LocationStore;
  readonly dialogs: DialogBook;
  readonly conferences: Conferences;
  /** Calls between scenarios, and from scenarios to conferences. */
  readonly loops: LoopCount;
  /** Name of the site that serves the dialogs. */
  readonly site: string;
  readonly log: Log;
  /** Whether the host of a URI that a party of the domain gives is this platform. */
  isHere(host: string, domain: DomainName): boolean;
  invite(options: OutgoingInviteOptions): OutgoingInvite;
  /** Sends a MESSAGE outside any call; never rejects. */
  message(options: OutgoingMessageOptions): Promise<SipAnswer>;
  /** The SIP server to make a call by whose phones have none of their own. */
  sipServer(): string | undefined;
  createEndpoint(wish: PlacedEndpointWish): Promise<MediaEndpoint>;
  /** The media server, where there is only one. */
  readonly onlyMediaServer: () => EndpointServer | undefined;
  /** Starts the call that a route decision asks for. */
  placeCall(decision: RouteDecision, options: AttemptOptions): Attempt;
  /** A phone transfers its peer; gives the answer to its REFER. */
  refer(leg: PhoneLeg, request: ReferRequest): ReferAnswer;
  /** Runs a scenario for a call; false when there is none of that code. */
  startScenario(code: string, call: CallPort): Promise<boolean>;
  /** Speech recognition, where the node has any. */
  readonly listenTo: ListenTo | undefined;
  /** Reports a failure that nobody waits for. */
  failed(err: unknown, what: string, leg: { callid: string }): void;
  /** Work that goes on when its call is over; a failure is reported, and the stop of the node waits for it. */
  background(work: Promise<unknown>, what: string, leg: { callid: string }): void;
}
