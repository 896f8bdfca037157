import type { Logger } from 'pino';
import type { TSchema } from 'typebox';
import type { CallStore, DialogSelector } from '../runtime/callstore/callstore.ts';
import type { Resource } from './collection/resource.ts';
import type { Directory } from '../runtime/domain/directory.ts';
import type { EventBus } from '../runtime/events/event-bus.ts';
import type { Accounts, Avatars, Iam, Session } from '../runtime/iam/index.ts';
import type { Model } from '../runtime/model/index.ts';

/** On whose behalf an operation runs, and which dialogs it may see. */
export interface CallScope {
  readonly domain: string;
  readonly userId: string;
  readonly login: string;
  /** Of the HTTP request, for the log. */
  readonly requestId: string;
  /** Only dialogs in which a sipuser of this user takes part; absent: all of the domain. */
  readonly ownUserId?: string;
}

/** Operations on a live dialog, by the lower-case name of their method. */
export const DIALOG_OPERATIONS = ['refer', 'referreplaces', 'setup_bindings'] as const;
export type DialogOperation = (typeof DIALOG_OPERATIONS)[number];

/** What the caller of an operation is answered. A status of 400 or above comes with an error object as body. */
export interface OperationAnswer {
  readonly status: number;
  readonly body: object;
  /** Id of the operation record, answered in the header `Operation-Id`. */
  readonly operationId?: string;
}

/** The call operations, as the Operation component offers them. They go on when the HTTP client has gone. */
export interface Operations {
  /** JSON Schemas of the request bodies: requests are checked by them, and documented by them. */
  readonly schemas: Readonly<Record<'invite' | DialogOperation, TSchema>>;
  /** Calls X and transfers it to Y (specification, "POST / INVITE"). `body` is valid by `schemas.invite`. */
  invite(body: unknown, scope: CallScope): Promise<OperationAnswer>;
  /**
   * Does something to one dialog.
   * @param target a selector: `{dialogid}` from the path, or any other from the body
   * @throws RestError 404/1413, 409/1402 when several dialogs match, 422/1405 when it cannot be done
   */
  onDialog(
    name: DialogOperation | 'delete',
    target: Readonly<Record<string, unknown>>,
    body: unknown,
    scope: CallScope,
  ): Promise<OperationAnswer>;
  /** Ids of the dialogs that a selector means, oldest first. */
  lookup(selector: DialogSelector, scope: CallScope): Promise<readonly string[]>;
}

export interface Health {
  /** Calls can be made. */
  readonly ok: boolean;
  /** What is alive in the node, by kind: dialogs, endpoints, sockets, timers ... */
  readonly counts: Readonly<Record<string, number>>;
}

/** What an operation did so far, and when. */
export interface OperationRecords {
  /** The record of an operation of this domain, while it runs and for an hour afterwards. */
  read(domain: string, id: string): object | undefined;
}

/** Runs of scenarios with their traces, live and lately finished. */
export interface RunRecords {
  read(id: string): { readonly domain: string } | undefined;
  runs(): readonly { readonly domain: string }[];
}

/** A web application as the session data show it. */
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

export interface RestDeps {
  readonly operationRecords: OperationRecords;
  readonly runs: RunRecords;
  readonly iam: Iam;
  readonly accounts: Accounts;
  readonly avatars: Avatars;
  readonly webApps: WebApps;
  /** Collections by path below the base. */
  readonly collections: Readonly<Record<string, Resource>>;
  /** The dynamic data model; its classes are one of the collections. */
  readonly model: Model;
  readonly directory: Pick<Directory, 'domain' | 'domains'>;
  readonly events: EventBus;
  readonly calls: CallStore;
  readonly operations: Operations;
  readonly health: () => Promise<Health>;
  readonly log: Logger;
  /** Addresses or networks (CIDR) of proxies whose X-Forwarded-For is believed. Default: none. */
  readonly trustProxy?: readonly string[];
  /** Greatest request body in bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
  /** Milliseconds for a request head to arrive. Default 10 000. */
  readonly headTimeoutMs?: number;
  /** Milliseconds for a whole request to arrive. Default 300 000. */
  readonly requestTimeoutMs?: number;
}
