/** State shared by the parts of the SIP server. */
import type { ClientTransaction, SipEndpoint } from '../stack/index.ts';
import type { AppConnection } from './app-connection.ts';
import type { AppRegistry } from './app-registry.ts';
import type { CallGate } from './call-gate.ts';
import type { CdrSender } from './cdr.ts';
import type { DialogStore } from './dialog-store.ts';
import type { IncomingRequests } from './incoming-requests.ts';
import type { SessionTimers } from './session-timers.ts';

/** A request that an application sent. */
export interface OutgoingRequest {
  readonly id: string;
  readonly transaction: ClientTransaction;
  readonly app: AppConnection;
}

/** State that the parts of the SIP server share. */
export interface Core {
  readonly endpoint: SipEndpoint;
  readonly apps: AppRegistry;
  /** Undefined: every new call goes to an application. */
  readonly gate: CallGate | undefined;
  readonly dialogs: DialogStore;
  readonly cdr: CdrSender;
  readonly sessions: SessionTimers;
  /** Incoming requests. */
  readonly incoming: IncomingRequests;
  /** Outgoing requests, by transaction id. */
  readonly outgoing: Map<string, OutgoingRequest>;
}
