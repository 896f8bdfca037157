/** The SIP messages of a node's calls in the last hour. */
import type { CallFacts, LegFacts } from '../callstore/index.ts';
import { rawHeader, readWireFrame, type WireMessage } from '../signalling/index.ts';
import { masked } from './masked.ts';
import { type Entry, MessageStore } from './message-store.ts';

export interface LadderOptions {
  /** Octets of messages; 0: none are kept. */
  readonly limit: number;
  /** The live calls that have this id: of the call, its dialog, a leg, or its operation. */
  readonly liveCalls: (id: string) => readonly CallFacts[];
}

/** A call, and its transfer chain. Times are ISO 8601 in UTC. */
export interface LadderView {
  /** Oldest first. */
  readonly calls: readonly {
    readonly id: string;
    readonly dialogid: string;
    readonly started: string;
    readonly ended: string | null;
  }[];
  readonly legs: readonly LadderLeg[];
  /** False when older messages of the call are no longer kept. */
  readonly complete: boolean;
  /** Oldest first. */
  readonly messages: readonly LadderMessage[];
}

/** A leg of the domain. */
export interface LadderLeg {
  /** Call-ID in its messages. */
  readonly callid: string;
  readonly side: 'a' | 'b';
  readonly kind: LegFacts['party']['kind'];
  readonly number: string;
  readonly name: string | null;
}

export interface LadderMessage {
  /** With microseconds. */
  readonly time: string;
  readonly callid: string;
  readonly transport: string;
  /** `ip:port`; empty for the far side of a message that was on no wire. */
  readonly from: string;
  readonly to: string;
  /** This node sent it. */
  readonly sent: boolean;
  /** False for a message that the SIP server made up, such as 408 for a phone that does not answer. */
  readonly wire: boolean;
  /** Without secrets. */
  readonly text: string;
}

/** Age of the oldest messages, ms. */
const AGE_MS = 3_600_000;
const EXPIRE_MS = 60_000;
/** Kind of the entries of ended calls; frames have the number of their SIP server. */
const ENDED = 0xff_ff_ff_ff;
/** Calls of a chain that are followed. */
const MAX_CALLS = 100;
/** Requests that belong to no call and come all the time, and the answers to them. */
const NO_CALL = ['REGISTER ', 'OPTIONS '];
const NO_CALL_ANSWER = /\r\ncseq[ \t]*:[ \t]*\d+[ \t]+(?:REGISTER|OPTIONS)\r/i;

/** Keeps SIP messages of the last hour, and finds those of a call. */
export class Ladder {
  readonly #store: MessageStore;
  readonly #liveCalls: LadderOptions['liveCalls'];
  readonly #servers: string[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor({ limit, liveCalls }: LadderOptions) {
    this.#store = new MessageStore(limit, AGE_MS);
    this.#liveCalls = liveCalls;
    this.#timer = setInterval(() => this.#store.expire(), EXPIRE_MS).unref();
  }

  /** Octets of memory in use. */
  get bytes(): number {
    return this.#store.bytes;
  }

  /** Keeps a frame of a SIP server, if it has a message that may belong to a call. */
  keep(frame: string, hostports: string): void {
    const start = frame.indexOf('\r\n') + 2;
    if (start === 1 || NO_CALL.some((method) => frame.startsWith(method, start))) return;
    if (frame.startsWith('SIP/2.0 ', start) && NO_CALL_ANSWER.test(frame)) return;
    let server = this.#servers.indexOf(hostports);
    if (server === -1) server = this.#servers.push(hostports) - 1;
    this.#store.add(server, frame);
  }

  /** A call ended: its legs are kept beside their messages. */
  over(facts: CallFacts): void {
    this.#store.add(ENDED, JSON.stringify(facts));
  }

  /**
   * The messages of a call and of those in its transfer chain, as far as they are with parties of the domain.
   * @param id of the call, its dialog, a leg (Call-ID) or its operation
   * @returns undefined for a call that this node has not had in the last hour, or one of other domains
   */
  async of(domain: string, id: string): Promise<LadderView | undefined> {
    this.#store.expire();
    const calls = await this.#chain(id);
    const legs = legsOf(calls, domain);
    if (legs.length === 0) return undefined;
    const own = new Set(legs.map(({ callid }) => callid));
    const entries = await this.#store.find(own, (kind) => kind !== ENDED);
    const messages = entries.flatMap((entry) => this.#message(entry) ?? []).filter(({ callid }) => own.has(callid));
    messages.sort((one, other) => one.message.time - other.message.time);
    const began = Math.min(...calls.map((call) => call.began));
    return {
      calls: calls.map(({ id: callId, dialogid, began: started, end }) => ({
        id: callId,
        dialogid,
        started: new Date(started).toISOString(),
        ended: end === undefined ? null : new Date(end.at).toISOString(),
      })),
      legs,
      complete: this.#store.droppedUntil < began,
      messages: withTargets(messages).map(({ callid, message }) => shown(callid, message)),
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#store.clear();
  }

  /** The calls with this id, those that continue or are continued by one of them or are of its operation, oldest first. */
  async #chain(id: string): Promise<readonly CallFacts[]> {
    const found = new Map<string, CallFacts>();
    const asked = new Set<string>();
    let next = [id];
    while (next.length > 0 && found.size < MAX_CALLS) {
      for (const each of next) asked.add(each);
      const ended = await this.#store.find(next, (kind) => kind === ENDED);
      const calls = [...ended.map(factsOf), ...next.flatMap((each) => [...this.#liveCalls(each)])];
      const wanted = new Set(next);
      for (const call of calls) if (isKnownAs(call, wanted)) found.set(call.id, call);
      const linked = [...found.values()].flatMap(({ replaced, replacedBy, operation }) => [
        ...replaced,
        ...replacedBy,
        ...(operation ? [operation.id] : []),
      ]);
      next = [...new Set(linked)].filter((each) => !asked.has(each));
    }
    return [...found.values()].toSorted((one, other) => one.began - other.began);
  }

  #message({ kind, time, text }: Entry): OfLeg | undefined {
    const message = readWireFrame(text, this.#servers[kind] ?? '', time);
    return message && { callid: rawHeader(message.text, 'Call-ID', 'i') ?? '', message };
  }
}

interface OfLeg {
  readonly callid: string;
  readonly message: WireMessage;
}

/**
 * Completes the addresses to which requests were sent: where the response to a request came from, or for an ACK, where the latest
 * message of the leg did.
 */
function withTargets(messages: readonly OfLeg[]): readonly OfLeg[] {
  const answeredBy = new Map<string, string>();
  for (const { message } of messages)
    if (!message.isSent && !message.isLocal && message.text.startsWith('SIP/'))
      answeredBy.set(transactionOf(message), message.from);
  const latest = new Map<string, string>();
  return messages.map(({ callid, message }) => {
    if (!message.isSent && !message.isLocal) latest.set(callid, message.from);
    if (!message.isToGuessed) return { callid, message };
    const to = answeredBy.get(transactionOf(message)) ?? latest.get(callid) ?? message.to;
    return { callid, message: { ...message, to } };
  });
}

/** Branch and method (RFC 3261 section 17.1.3). */
function transactionOf({ text }: WireMessage): string {
  const branch = /;\s*branch\s*=\s*([^;,\s]+)/i.exec(rawHeader(text, 'Via', 'v') ?? '')?.[1] ?? '';
  return `${branch} ${rawHeader(text, 'CSeq') ?? ''}`;
}

function factsOf({ text }: Entry): CallFacts {
  return JSON.parse(text) as CallFacts;
}

function isKnownAs({ id, dialogid, operation, legs }: CallFacts, wanted: ReadonlySet<string>): boolean {
  const names = [id, dialogid, operation?.id, ...legs.flatMap(({ callid, trunkCallid }) => [callid, trunkCallid])];
  return names.some((name) => name !== undefined && wanted.has(name));
}

function legsOf(calls: readonly CallFacts[], domain: string): readonly LadderLeg[] {
  const legs = new Map<string, LadderLeg>();
  for (const { side, callid, trunkCallid, party } of calls.flatMap((call) => call.legs)) {
    const id = trunkCallid ?? callid;
    if (party.domain !== domain || legs.has(id)) continue;
    legs.set(id, { callid: id, side, kind: party.kind, number: party.number, name: party.name });
  }
  return [...legs.values()];
}

function shown(callid: string, { time, isLocal, isSent, text, ...way }: WireMessage): LadderMessage {
  return {
    time: isoMicros(time),
    callid,
    transport: way.transport,
    from: way.from,
    to: way.to,
    sent: isSent,
    wire: !isLocal,
    text: masked(text),
  };
}

/** ISO 8601 with microseconds. */
function isoMicros(time: number): string {
  const micros = Math.floor((time - Math.floor(time)) * 1000);
  return new Date(Math.floor(time)).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
}
