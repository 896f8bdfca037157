/** The connection to NATS. The only file that opens one. */
import { readFileSync } from 'node:fs';
import { connect, credsAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import type { Log } from '../log.ts';
import type { NatsAddress } from '../nats-address.ts';

/** Milliseconds between attempts to connect. */
const RETRY_MS = 250;
/** A silent NATS server is left after two unanswered pings. */
const PING_MS = 1000;

export interface NatsOptions {
  readonly servers: readonly NatsAddress[];
  /** Absolute paths of PEM files and of a `.creds` file; undefined: none. */
  readonly credentialsFile: string | undefined;
  readonly tls: {
    readonly ca: string | undefined;
    readonly cert: string | undefined;
    readonly key: string | undefined;
  };
  /** Shown in the lists of connections of NATS. */
  readonly name: string;
}

/**
 * A connection to NATS that is opened in the background, and again after each loss. `onUp` listeners run at every
 * (re)connection, `onDown` listeners at every loss.
 */
export class NatsLink {
  readonly #log: Log;
  readonly #up: (() => void)[] = [];
  readonly #down: (() => void)[] = [];
  readonly #options: NodeConnectionOptions;
  #connection: NatsConnection | undefined;
  #connected = false;
  #closing = false;
  #told: string | undefined;
  #retry: NodeJS.Timeout | undefined;

  /** @throws when a file cannot be read */
  constructor(options: NatsOptions, log: Log) {
    this.#log = log;
    this.#options = connectionOptions(options);
  }

  /** Starts to connect. */
  open(): void {
    connect(this.#options).then(
      (connection) => this.#opened(connection),
      (err: unknown) => this.#failed(err),
    );
  }

  /** The connection, while it is up. */
  get connection(): NatsConnection | undefined {
    return this.#connected ? this.#connection : undefined;
  }

  onUp(listener: () => void): void {
    this.#up.push(listener);
    if (this.#connected) listener();
  }

  onDown(listener: () => void): void {
    this.#down.push(listener);
  }

  /** Something was not stored, or not told, though the connection was not lost: the `onUp` listeners run once more. */
  again(): void {
    if (!this.#connected) return;
    this.#log.info({}, 'what the nodes share is read and told anew');
    for (const listener of this.#up) listener();
  }

  /** Sends what is waiting, and closes. */
  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#retry);
    const connection = this.#connection;
    if (connection === undefined) return;
    // Without a server, a drain would wait for one.
    if (this.#connected) await connection.drain().catch(() => undefined);
    // A drain that failed leaves it open.
    await connection.close().catch(() => undefined);
  }

  #opened(connection: NatsConnection): void {
    if (this.#closing) return void connection.close().catch(() => undefined);
    this.#connection = connection;
    void this.#follow(connection);
    this.#turn(true);
  }

  #failed(err: unknown): void {
    if (this.#closing) return;
    this.#tell(err);
    this.#retry = setTimeout(() => this.open(), RETRY_MS);
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'reconnect') this.#turn(true);
      else if (status.type === 'disconnect') this.#turn(false);
      else if (status.type === 'error') this.#tell(status.error);
    }
    // It ended for good, such as after refused credentials: a new one is tried.
    this.#turn(false);
    this.#connection = undefined;
    if (!this.#closing) this.#retry = setTimeout(() => this.open(), RETRY_MS);
  }

  #turn(connected: boolean): void {
    if (this.#connected === connected) return;
    this.#connected = connected;
    if (connected) {
      this.#told = undefined;
      this.#log.info({ server: this.#connection?.getServer() }, 'connected to NATS');
    } else if (!this.#closing) this.#log.warn({}, 'NATS is away: this node works alone until it is back');
    for (const listener of connected ? this.#up : this.#down) listener();
  }

  /** Each reason once, not at every attempt. */
  #tell(err: unknown): void {
    const reason = err instanceof Error ? err.message : String(err);
    if (reason === this.#told) return;
    this.#told = reason;
    this.#log.warn({ reason }, 'NATS does not take this node yet');
  }
}

function connectionOptions({ servers, credentialsFile, tls, name }: NatsOptions): NodeConnectionOptions {
  const [first] = servers;
  const { ca, cert, key } = tls;
  const wantsTls = servers.some(({ secure }) => secure) || ca !== undefined || cert !== undefined;
  return {
    servers: servers.map(({ address }) => address),
    name,
    ...(first?.token === undefined ? {} : { token: first.token }),
    ...(first?.user === undefined ? {} : { user: first.user, pass: first.password ?? '' }),
    ...(credentialsFile === undefined ? {} : { authenticator: credsAuthenticator(readFileSync(credentialsFile)) }),
    ...(wantsTls && {
      tls: {
        ...(ca === undefined ? {} : { caFile: ca }),
        ...(cert === undefined ? {} : { certFile: cert }),
        ...(key === undefined ? {} : { keyFile: key }),
      },
    }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    reconnectJitter: RETRY_MS,
    timeout: 3000,
    pingInterval: PING_MS,
    maxPingOut: 2,
  };
}
