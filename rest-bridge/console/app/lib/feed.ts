/** The events of the node over one WebSocket that everything on the page shares. It resumes by sequence after a break. */
import { signal } from '@preact/signals';
import { checkSession } from './session.ts';

/** An event as `/ws` sends it. */
export interface FeedEvent {
  readonly id: string;
  readonly seq: number;
  readonly class: string;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Interest {
  /** Classes, or `class.type`. */
  readonly events: readonly string[];
  /** Filter of the data model. */
  readonly filter?: object;
  readonly onEvent: (event: FeedEvent) => void;
  /** Events come from now on, without those before: read the state. Again after a break that lost events. */
  readonly onStart: () => void;
  /** The service refuses the subscription. */
  readonly onRefused?: (message: string) => void;
}

/** What the feed uses of a WebSocket. */
export interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'close', listener: () => void): void;
  addEventListener(type: 'message', listener: (message: { readonly data: unknown }) => void): void;
}

interface Followed extends Interest {
  readonly id: string;
  /** Of the last event; undefined before the first answer. */
  seq: number | undefined;
}

interface Subscribed {
  readonly id?: string;
  readonly qid?: string;
  readonly result: 'ok' | 'error';
  readonly resumed?: boolean;
  readonly seq?: number;
  readonly error_message?: string;
}

/** Well before subscriptions expire after an hour. */
const RENEW_MS = 30 * 60_000;
const RETRY_MS = { first: 500, most: 5_000 };

/** @param open connects @param check settles when there is a session to connect with */
export class Feed {
  /** False while the connection is broken. */
  readonly connected = signal(true);
  readonly #open: () => Socket;
  readonly #check: () => Promise<void>;
  readonly #name = `console-${crypto.randomUUID().slice(0, 8)}`;
  readonly #followed = new Map<string, Followed>();
  #socket: Socket | undefined;
  #isOpen = false;
  #next = 0;
  #retryMs = RETRY_MS.first;

  constructor(open: () => Socket, check: () => Promise<void>) {
    this.#open = open;
    this.#check = check;
  }

  /** Follows events. @returns ends it */
  follow(interest: Interest): () => void {
    const id = `${this.#name}-${(this.#next += 1)}`;
    const followed: Followed = { ...interest, id, seq: undefined };
    this.#followed.set(id, followed);
    if (this.#socket === undefined) this.#connect();
    else if (this.#isOpen) this.#subscribe(followed);
    const renewal = setInterval(() => this.#isOpen && this.#subscribe(followed, false), RENEW_MS);
    return () => {
      clearInterval(renewal);
      this.#followed.delete(id);
      if (this.#isOpen) this.#send('subscribe', { id, expires: 0 });
    };
  }

  /** Ends the connection; it comes back with the next interest. */
  close(): void {
    this.#followed.clear();
    this.#socket?.close();
  }

  #connect(): void {
    const socket = this.#open();
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#isOpen = true;
      this.#retryMs = RETRY_MS.first;
      this.connected.value = true;
      for (const followed of this.#followed.values()) this.#subscribe(followed);
    });
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => {
      this.#isOpen = false;
      this.#socket = undefined;
      if (this.#followed.size > 0) void this.#again();
    });
  }

  /** The browser does not say why a connection failed, so the session is checked first. */
  async #again(): Promise<void> {
    await this.#check().catch(() => {
      this.connected.value = false;
    });
    setTimeout(() => {
      if (this.#socket === undefined && this.#followed.size > 0) this.#connect();
    }, this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.most);
  }

  #subscribe({ id, events, filter, seq }: Followed, resume = true): void {
    this.#send('subscribe', {
      qid: id,
      id,
      events,
      ...(filter !== undefined && { exargs: { filter } }),
      ...(resume && seq !== undefined && { after: seq }),
    });
  }

  #send(method: string, parameters: object): void {
    this.#socket?.send(JSON.stringify([method, parameters]));
  }

  #receive(text: string): void {
    const [method, content] = JSON.parse(text) as [string, unknown];
    if (method === 'event') {
      const event = content as FeedEvent;
      const followed = this.#followed.get(event.id);
      if (followed === undefined) return;
      followed.seq = event.seq;
      followed.onEvent(event);
    } else if (method === 'subscribe_result') {
      this.#answered(content as Subscribed);
    } else if (method === 'unsubscribed') {
      const followed = this.#followed.get((content as { id: string }).id);
      if (followed !== undefined) this.#subscribe(followed);
    }
  }

  #answered(answer: Subscribed): void {
    const followed = this.#followed.get(answer.id ?? answer.qid ?? '');
    if (followed === undefined) return;
    if (answer.result === 'error') {
      followed.onRefused?.(answer.error_message ?? '');
    } else if (answer.resumed !== true || followed.seq === undefined) {
      followed.seq = answer.seq ?? 0;
      followed.onStart();
    }
  }
}

/** The feed of this page. */
export const feed = new Feed(
  () => new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`),
  checkSession,
);
