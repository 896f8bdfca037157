import type { ClientTransaction, ServerTransaction, SipEndpoint } from '../stack/index.ts';
import type { AppConnection } from './app-connection.ts';
import type { AppRegistry } from './app-registry.ts';
import type { CdrSender } from './cdr.ts';
import type { Dialog } from './dialog.ts';
import type { DialogStore } from './dialog-store.ts';
import type { ReliableProvisional } from './reliable-provisional.ts';
import type { SessionTimers } from './session-timers.ts';

/** A request that came in and was given to an application. */
export interface ServerRecord {
  readonly id: string;
  readonly transaction: ServerTransaction;
  readonly app: AppConnection;
  /** The dialog it came in, or (INVITE, SUBSCRIBE) began. */
  dialog: Dialog | undefined;
  /** The reliable provisional response that waits for its PRACK. */
  reliable: ReliableProvisional | undefined;
}

/** A request that an application sent. */
export interface ClientRecord {
  readonly id: string;
  readonly transaction: ClientTransaction;
  readonly app: AppConnection;
}

/** What the parts of the server share. */
export interface Core {
  readonly endpoint: SipEndpoint;
  readonly apps: AppRegistry;
  readonly dialogs: DialogStore;
  readonly cdr: CdrSender;
  readonly sessions: SessionTimers;
  /** Requests in, by transaction id. */
  readonly servers: Map<string, ServerRecord>;
  readonly serverOf: Map<ServerTransaction, ServerRecord>;
  /** Requests out, by transaction id. */
  readonly clients: Map<string, ClientRecord>;
}
