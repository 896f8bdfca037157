import { expect } from 'chai';
import { EmbeddedSipServer } from '../../../runtime/embedded/sip/server.ts';
import type { SipServerOptions } from '../../../runtime/embedded/sip/options.ts';
import { AppClient } from './app-client.ts';
import type { RecordedEvent, Recording } from './recording.ts';
import { SipPeer } from './sip-peers.ts';
import { Matcher } from './text-match.ts';

/** Permitted differences of a replay from its recording. */
export interface ReplayOptions {
  /** Text replaced in the recording before it is compared. */
  readonly edits?: readonly (readonly [RegExp, string])[];
  /** Recorded events to leave out. */
  readonly skip?: (event: RecordedEvent) => boolean;
  readonly server?: Partial<SipServerOptions>;
  /** Port that must be closed. */
  readonly absent?: number;
  /** Further ports that are open and silent. */
  readonly listen?: readonly number[];
  /** Allows further frames, which drachtio-server did not live to send. */
  readonly more?: boolean;
}

/**
 * An event to the server waits for earlier recorded events on other wires. The clocks of the recordings may differ by this
 * time, in seconds, so the wait is limited to it.
 */
const UNCERTAIN = 0.02;
const SHORT_WAIT = 40;
const PATIENCE = 3000;

/**
 * Plays the application and the phones of a recording against an embedded server and compares the server's output,
 * frame by frame and message by message.
 * @param host a loopback address of 9 characters, as 127.0.0.1, so that sizes are those of the recording.
 */
export async function replay(recording: Recording, host: string, options: ReplayOptions = {}): Promise<void> {
  const events = recording.events.filter((event) => !(options.skip?.(event) ?? false));
  const localised = events.map((event) => localise(event, host, options.edits ?? []));
  const long = (localised.at(-1)?.t ?? 0) > 10;
  const timerValues = { t1: 20, t2: 160, t4: 200, d: 1280 };
  const server = await EmbeddedSipServer.open({
    app: '127.0.0.1:0',
    secret: 'cymru',
    sip: [`${host}:5060`],
    cdrs: false,
    ...(long ? { timerValues } : {}),
    ...options.server,
  });
  const player = new Player(server.addresses.app, host, localised, options);
  try {
    await player.run();
  } finally {
    player.close();
    await server.close();
  }
}

function localise(event: RecordedEvent, host: string, edits: readonly (readonly [RegExp, string])[]): RecordedEvent {
  const put = (text: string): string => text.replaceAll('127.0.0.1', host);
  let text = event.text;
  if (text !== undefined) {
    text = put(text).replaceAll('v0.9.10-1-g9c2dd4cb6a', 'v0.9.10-ringmaster');
    if (event.dir === '<' || event.from !== undefined) for (const [from, to] of edits) text = text.replace(from, to);
  }
  return {
    ...event,
    ...(text === undefined ? {} : { text }),
    ...(event.from === undefined ? {} : { from: put(event.from) }),
    ...(event.to === undefined ? {} : { to: put(event.to) }),
  };
}

class Player {
  readonly #appAddress: string;
  readonly #host: string;
  readonly #events: readonly RecordedEvent[];
  readonly #matcher = new Matcher();
  readonly #apps = new Map<string, AppClient>();
  readonly #peers = new Map<number, SipPeer>();
  /** Recorded time up to which each wire has been played, with its waiters. */
  readonly #progress = new Map<string, number>();
  #moved: (() => void)[] = [];
  #failed = false;
  readonly #absent: number | undefined;
  readonly #more: boolean;
  readonly #listen: readonly number[];

  constructor(appAddress: string, host: string, events: readonly RecordedEvent[], options: ReplayOptions) {
    this.#absent = options.absent;
    this.#more = options.more ?? false;
    this.#listen = options.listen ?? [];
    this.#appAddress = appAddress;
    this.#host = host;
    this.#events = events;
  }

  async run(): Promise<void> {
    for (const event of this.#events) {
      const port = Number((event.dir === '<' ? event.to : event.from)?.split(':')[1]);
      if (port > 0 && !this.#peers.has(port) && this.#absent !== port)
        this.#peers.set(port, await SipPeer.open(this.#host, port));
    }
    for (const port of this.#listen) this.#peers.set(port, await SipPeer.open(this.#host, port));
    const wires = new Map<string, RecordedEvent[]>();
    for (const event of this.#events) wires.set(wireOf(event), [...(wires.get(wireOf(event)) ?? []), event]);
    for (const wire of wires.keys()) this.#progress.set(wire, -1);
    const played = await Promise.allSettled([...wires].map(([wire, events]) => this.#play(wire, events)));
    for (const result of played) if (result.status === 'rejected') throw result.reason;
    if (this.#more) return;
    for (const [name, app] of this.#apps) expect(app.inbox.left, `frames left on ${name}`).to.deep.equal([]);
  }

  close(): void {
    for (const app of this.#apps.values()) app.destroy();
    for (const peer of this.#peers.values()) peer.close();
  }

  async #play(wire: string, events: readonly RecordedEvent[]): Promise<void> {
    try {
      for (const event of events) {
        if (event.dir !== '<') await this.#ready(wire, event);
        if (this.#failed) return;
        await this.#step(event);
        this.#reach(wire, event.t);
      }
      this.#reach(wire, Number.POSITIVE_INFINITY);
    } catch (error) {
      this.#failed = true;
      this.#reach(wire, Number.POSITIVE_INFINITY);
      throw error;
    }
  }

  async #step(event: RecordedEvent): Promise<void> {
    const text = event.text ?? '';
    switch (event.dir) {
      case 'open':
        this.#apps.set(event.on, await AppClient.connect(this.#appAddress));
        break;
      case 'raw':
        this.#app(event).raw(text);
        break;
      case 'app-fin':
        this.#app(event).end();
        break;
      case 'server-fin':
        await this.#app(event).closed;
        break;
      case '>':
        if (event.from === undefined) this.#app(event).send(this.#matcher.translate(text));
        else await this.#toServer(event, this.#matcher.translate(text));
        break;
      case '<':
        await this.#expect(event, text);
        break;
    }
  }

  async #toServer(event: RecordedEvent, text: string): Promise<void> {
    const peer = this.#peer(event.from);
    if (event.on === 'tcp') await peer.sendTcp(text, 5060);
    else await peer.sendUdp(text, 5060);
  }

  async #expect(event: RecordedEvent, recorded: string): Promise<void> {
    const inbox = event.to === undefined ? this.#app(event).inbox : this.#peer(event.to).inbox;
    const actual = await inbox.take(PATIENCE);
    const where = `${event.on} at ${event.t} s`;
    if (actual === undefined) throw new Error(`${where}: nothing came; recorded was\n${recorded}`);
    const expected = this.#matcher.match(recorded, actual);
    if (expected !== undefined) expect(actual, where).to.equal(expected);
  }

  #app(event: RecordedEvent): AppClient {
    const app = this.#apps.get(event.on);
    if (app === undefined) throw new Error(`${event.on} is not connected`);
    return app;
  }

  #peer(address: string | undefined): SipPeer {
    const peer = this.#peers.get(Number(address?.split(':')[1]));
    if (peer === undefined) throw new Error(`no peer at ${address}`);
    return peer;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#moved.push(resolve));
  }

  #reach(wire: string, t: number): void {
    this.#progress.set(wire, t);
    this.#wake();
  }

  #wake(): void {
    const moved = this.#moved;
    this.#moved = [];
    for (const wake of moved) wake();
  }

  async #ready(wire: string, event: RecordedEvent): Promise<void> {
    await this.#others(wire, event.t - UNCERTAIN);
    const cut = new AbortController();
    const timer = setTimeout(() => {
      cut.abort();
      this.#wake();
    }, SHORT_WAIT);
    await this.#others(wire, event.t, cut.signal);
    clearTimeout(timer);
    // A response answers a request of the server, which must have been received.
    const { text = '' } = event;
    while (text.startsWith('SIP/2.0') && !this.#matcher.knows(text) && !this.#failed) await this.#change();
  }

  /** Waits until every other wire has reached that recorded time. */
  async #others(wire: string, t: number, signal?: AbortSignal): Promise<void> {
    const behind = (): boolean =>
      [...this.#progress].some(([other, reached]) => {
        if (other === wire || reached >= t) return false;
        const next = this.#events.find((event) => wireOf(event) === other && event.t > reached);
        return next !== undefined && next.t <= t;
      });
    while (behind() && !this.#failed && signal?.aborted !== true) await this.#change();
  }
}

/** A connection of an application, or SIP with one peer. */
function wireOf(event: RecordedEvent): string {
  const peer = event.dir === '<' ? event.to : event.from;
  return peer === undefined ? event.on : `${event.on} ${peer}`;
}
