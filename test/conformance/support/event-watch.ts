import type { ServerAddress } from '../../../runtime/config/config.ts';
import { EslClient } from '../../embedded/media/support/esl-client.ts';

/** An event of the media server: its headers. */
export type ServerEvent = Readonly<Record<string, string>>;

const REPLY_MS = 2000;

/** Watches the events of the media server on a separate connection. */
export class EventWatch {
  /** Every event since the connection or the last `clear`, in order. */
  seen: ServerEvent[] = [];
  readonly #client: EslClient;
  readonly #waiting = new Set<(event: ServerEvent) => void>();
  #ended = false;

  private constructor(client: EslClient) {
    this.#client = client;
    void this.#read();
  }

  /** Connects and subscribes. @param names as after `event json`: `ALL`, `CUSTOM conference::maintenance` ... */
  static async open(address: ServerAddress, names: string): Promise<EventWatch> {
    const client = await EslClient.connect(`${address.host}:${address.port}`);
    for (const command of [`auth ${address.secret ?? ''}`, `event json ${names}`]) {
      client.send(`${command}\n\n`);
      const reply = await client.take(({ type }) => type === 'command/reply', REPLY_MS);
      if (!reply?.head.includes('+OK')) throw new Error(`${command.split(' ')[0]}: ${reply?.head ?? 'no reply'}`);
    }
    return new EventWatch(client);
  }

  /** Drops the events so far. */
  clear(): void {
    this.seen = [];
  }

  /** The first matching event, of earlier and later ones. Rejects after the given time. */
  async event(what: string, fits: (event: ServerEvent) => boolean, withinMs = 8000): Promise<ServerEvent> {
    const known = this.seen.find(fits);
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<ServerEvent>();
    const look = (event: ServerEvent): void => {
      if (fits(event)) resolve(event);
    };
    this.#waiting.add(look);
    const names = (): string => this.seen.map((event) => event.Action ?? event['Event-Name']).join(', ');
    const timer = setTimeout(
      () => reject(new Error(`${what}: not received within ${withinMs} ms; received: ${names()}`)),
      withinMs,
    );
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
  }

  close(): void {
    this.#ended = true;
    this.#client.destroy();
  }

  async #read(): Promise<void> {
    while (!this.#ended && !this.#client.closed) {
      const frame = await this.#client.take(({ type }) => type === 'text/event-json', 200);
      if (frame === undefined) continue;
      const event = JSON.parse(frame.body) as ServerEvent;
      this.seen.push(event);
      for (const look of this.#waiting) look(event);
    }
  }
}
