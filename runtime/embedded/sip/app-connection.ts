/** Connections of applications. */
import type { Socket } from 'node:net';
import { corkedTurn, type Turn } from '../../turns/index.ts';
import { AppFrameError, AppFramer, encodeFrame } from './app-framer.ts';
import { type AppCommand, parseCommand } from './app-command.ts';

/** Largest number of bytes queued for an application that does not read; with more the connection is closed. */
const MAX_QUEUED = 64 << 20;

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
  readonly #turn: Turn;

  /** @param authenticateWithin ms */
  constructor(socket: Socket, events: AppConnectionEvents, authenticateWithin = AUTHENTICATION_TIMEOUT) {
    this.#socket = socket;
    this.#turn = corkedTurn(socket);
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

  /** Sends a frame, together with others of this turn of the event loop. */
  send(fields: string, head?: string, body?: Buffer): void {
    if (!this.open) return;
    this.#turn.add(() => this.#socket.write(encodeFrame(fields, head, body)));
    if (this.#socket.writableLength > MAX_QUEUED) this.#socket.destroy();
  }

  /** Closes once all queued frames have been sent. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
