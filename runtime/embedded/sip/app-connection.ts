/** Connections of applications. */
import type { Socket } from 'node:net';
import { AppFrameError, AppFramer, encodeFrame } from './app-framer.ts';
import { type AppCommand, parseCommand } from './app-command.ts';

/** Largest number of bytes queued for an application that does not read; with more the connection is closed. */
const MAX_QUEUED = 64 << 20;

/** Frames that wait at most: the application works on these while the server goes on with a long turn. */
const MOST_WAITING = 8;

/** Time for a new connection to authenticate, ms. */
const AUTHENTICATION_TIMEOUT = 10_000;

export interface AppConnectionEvents {
  command(app: AppConnection, command: AppCommand): void;
  closed(app: AppConnection): void;
}

/** The connection of one application. */
export class AppConnection {
  authenticated = false;
  /** Tags given with the authentication. Applications with the same tags can take over each other's dialogs. */
  tags: readonly string[] = [];
  readonly #socket: Socket;
  readonly #framer = new AppFramer();
  /** Frames that wait for the end of the turn. */
  #waiting = 0;

  /** @param authenticateWithin ms */
  constructor(socket: Socket, events: AppConnectionEvents, authenticateWithin = AUTHENTICATION_TIMEOUT) {
    this.#socket = socket;
    const late = setTimeout(() => {
      if (!this.authenticated) socket.destroy();
    }, authenticateWithin);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const payload of this.#framer.push(chunk)) {
          if (socket.destroyed || socket.writableEnded) return;
          events.command(this, parseCommand(payload));
        }
      } catch (error) {
        if (!(error instanceof AppFrameError)) throw error;
        socket.destroy();
      }
    });
    socket.on('end', () => socket.end());
    // 'close' follows and is handled.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      events.closed(this);
    });
  }

  get open(): boolean {
    return !this.#socket.destroyed && !this.#socket.writableEnded;
  }

  /** Sends a frame, together with up to seven others of this turn of the event loop: to wake the application costs more than most. */
  send(fields: string, head?: string, body?: Buffer): void {
    if (!this.open) return;
    if (this.#waiting === 0) {
      this.#socket.cork();
      setImmediate(() => this.#release());
    }
    this.#waiting += 1;
    this.#socket.write(encodeFrame(fields, head, body));
    if (this.#waiting === MOST_WAITING) this.#release();
    if (this.#socket.writableLength > MAX_QUEUED) this.#socket.destroy();
  }

  #release(): void {
    if (this.#waiting === 0) return;
    this.#waiting = 0;
    this.#socket.uncork();
  }

  /** Closes once all queued frames have been sent. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
