/** A connection of the event socket. */
import { reportFault } from '../core/fault.ts';
import { type EslCommand, EslCommandParser, EslFrameError } from './command-parser.ts';
import { briefly, type EventDraft, eventFrame } from './event.ts';
import { Subscription } from './subscription.ts';

/** Unsent octets after which a client that does not read is disconnected. */
const MAX_BACKLOG_BYTES = 16 * 1_048_576;

const FAREWELL = 'Disconnected, goodbye.\nSee you at ClueCon! http://www.cluecon.com/\n';

/** The part of a TCP connection that the event socket uses. */
export interface EslSocket {
  readonly destroyed: boolean;
  readonly writableLength: number;
  on(event: 'data', listener: (piece: Buffer) => void): unknown;
  on(event: 'error' | 'end' | 'close', listener: () => void): unknown;
  setNoDelay(on: boolean): unknown;
  setTimeout(milliseconds: number, expired: () => void): unknown;
  write(text: string): unknown;
  end(): unknown;
  destroy(): unknown;
}

/** A connection of the event socket, inbound or outbound: frames in and out, subscription, end. */
export class EslConnection {
  readonly subscription = new Subscription();
  readonly #socket: EslSocket;
  readonly #parser = new EslCommandParser();
  #ended = false;
  #saidGoodbye = false;
  /** Frames of this turn of the event loop. */
  #unsent = '';
  /** Seconds that the connection stays open after its call (`linger`); 0 for none. */
  lingerSeconds = 0;
  /** A command has come. */
  onCommand: (command: EslCommand) => void = () => undefined;
  /** The client has ended its direction. */
  onEnd: () => void = () => this.#socket.end();
  /** The connection has closed. Called once. */
  onClose: () => void = () => undefined;

  constructor(socket: EslSocket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (piece) => this.#receive(piece));
    socket.on('error', () => socket.destroy());
    socket.on('end', () => this.onEnd());
    socket.on('close', () => {
      this.#ended = true;
      this.onClose();
    });
  }

  get open(): boolean {
    return !this.#ended;
  }

  /** Sends `Content-Type: command/reply`. */
  reply(text: string): void {
    this.#write(`Content-Type: command/reply\nReply-Text: ${text}\n\n`);
  }

  /** Sends a command/reply that carries headers of its own, in the order given. */
  replyHeaders(headers: string): void {
    this.#write(`${headers}\n`);
  }

  /** Sends an `api/response`. As in FreeSWITCH, an empty answer becomes `-ERR no reply`. */
  apiResponse(said: string): void {
    const body = said === '' ? '-ERR no reply\n' : said;
    this.#write(`Content-Type: api/response\nContent-Length: ${Buffer.byteLength(body)}\n\n${body}`);
  }

  /** Sends the challenge of an inbound connection. */
  requestAuth(): void {
    this.#write('Content-Type: auth/request\n\n');
  }

  /** Sends an event if the client wants it. `frames` holds the frame by format and headers, built once for all clients. */
  event(draft: EventDraft, frames: Map<string, string>): void {
    const { format, filtered } = this.subscription;
    const headers = this.subscription.brief(draft.name);
    const event = draft.event(headers && [...headers, ...filtered]);
    if (!this.subscription.wants(event)) return;
    const kind = headers === undefined ? format : `${format} ${headers.join(' ')}`;
    let frame = frames.get(kind);
    if (frame === undefined) {
      frame = eventFrame(headers === undefined ? event : briefly(event, headers), format);
      frames.set(kind, frame);
    }
    this.#write(frame);
  }

  /**
   * Says goodbye and closes.
   *
   * @param channel id of the channel that an outbound connection controlled
   */
  disconnect(channel?: string): void {
    if (this.#ended || this.#saidGoodbye) return;
    const linger = channel === undefined ? 0 : this.lingerSeconds;
    if (linger > 0) {
      this.#saidGoodbye = true;
      this.#write(
        `Content-Type: text/disconnect-notice\nControlled-Session-UUID: ${channel}\nContent-Disposition: linger\n` +
          `Channel-Name: ${channel}\nLinger-Time: ${linger}\nContent-Length: 0\n\n`,
      );
      this.#socket.setTimeout(linger * 1000, () => this.#socket.destroy());
      return;
    }
    const controlled =
      channel === undefined ? '' : `Controlled-Session-UUID: ${channel}\nContent-Disposition: disconnect\n`;
    this.#write(`Content-Type: text/disconnect-notice\n${controlled}Content-Length: ${FAREWELL.length}\n\n${FAREWELL}`);
    this.#flush();
    this.#ended = true;
    this.#socket.end();
    // Closes the socket of a client that does not close its side.
    this.#socket.setTimeout(2000, () => this.#socket.destroy());
  }

  /** Closes without a notice. */
  destroy(): void {
    this.#flush();
    this.#ended = true;
    this.#socket.destroy();
  }

  #write(text: string): void {
    if (this.#ended || this.#socket.destroyed) return;
    if (this.#unsent === '') process.nextTick(() => this.#flush());
    this.#unsent += text;
  }

  /** Frames of one turn leave in one segment: each wakes the client. */
  #flush(): void {
    const text = this.#unsent;
    this.#unsent = '';
    if (text === '' || this.#ended || this.#socket.destroyed) return;
    this.#socket.write(text);
    if (this.#socket.writableLength > MAX_BACKLOG_BYTES) this.#socket.destroy();
  }

  #receive(piece: Buffer): void {
    if (this.#ended) return;
    try {
      this.#parser.push(piece, (command) => {
        if (!this.#ended) this.onCommand(command);
      });
    } catch (error) {
      if (error instanceof EslFrameError) this.reply(`-ERR ${error.message}`);
      else reportFault('event socket command', error);
      this.disconnect();
    }
  }
}
