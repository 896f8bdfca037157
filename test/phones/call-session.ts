import { randomInt } from 'node:crypto';
import { CODECS, type Codec } from './media/codecs.ts';
import { type FaxMachine, isFax } from './media/fax-machine.ts';
import type { SdesKeys } from './media/sdes.ts';
import type { RtpSession } from './media/rtp-session.ts';
import {
  answerMistakes,
  answerTo,
  parseSdp,
  SdpError,
  versionMistakes,
  withRefusals,
  writeSdp,
  type AudioDescription,
  type Direction,
  type LocalDescription,
} from './media/sdp.ts';

const TELEPHONE_EVENT = 101;

function canSend(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'sendonly';
}

function canReceive(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'recvonly';
}

function combine(first: Direction, second: Direction): Direction {
  const send = canSend(first) && canSend(second);
  const receive = canReceive(first) && canReceive(second);
  if (send) return receive ? 'sendrecv' : 'sendonly';
  return receive ? 'recvonly' : 'inactive';
}

/** The offer/answer state of one call (RFC 3264), driving its RTP. */
export class CallSession {
  readonly rtp: RtpSession;
  /** The wanted direction: `sendrecv`, or a kind of hold. */
  wanted: Direction = 'sendrecv';
  /** Its codecs, of which offers have all. */
  codecs: readonly Codec[];
  /** What takes faxes; a phone without it refuses them. */
  readonly fax: FaxMachine | undefined;
  /** Whether its offers are of a fax: in place of the sound, or beside a refusal of it. */
  wantsFax: 'alone' | 'beside sound' | undefined;
  readonly #keysByRtp: boolean;
  readonly #describes: (sdp: string) => string;
  readonly #address: string | undefined;
  /** Undefined: the phone does not encrypt. */
  readonly #keys: SdesKeys | undefined;
  readonly #receives: (sdp: string) => void;
  /** Whether the description in hand is encrypted. */
  #encrypts: boolean;
  readonly #sessionId = String(randomInt(1, 2 ** 47));
  readonly #violation: (what: string) => void;
  #version = 0;
  #local: LocalDescription | undefined;
  /** Port of the audio in the last description it wrote. */
  #profile = '';
  #remote: AudioDescription | undefined;

  /** @param can.keysByRtp whether it knows telephone-events (RFC 4733) */
  constructor(
    rtp: RtpSession,
    can: {
      readonly codecs: readonly Codec[];
      readonly keysByRtp: boolean;
      readonly describes: (sdp: string) => string;
      readonly keys?: SdesKeys | undefined;
      readonly receives?: ((sdp: string) => void) | undefined;
      readonly address?: string | undefined;
      readonly fax?: FaxMachine | undefined;
    },
    violation: (what: string) => void,
  ) {
    this.rtp = rtp;
    this.codecs = can.codecs;
    this.#keysByRtp = can.keysByRtp;
    this.#describes = can.describes;
    this.#address = can.address;
    this.fax = can.fax;
    this.#keys = can.keys;
    this.#receives = can.receives ?? (() => undefined);
    this.#encrypts = can.keys !== undefined;
    this.#violation = violation;
  }

  /** The far end's present description, undefined before any. */
  get remote(): AudioDescription | undefined {
    return this.#remote;
  }

  get local(): LocalDescription | undefined {
    return this.#local;
  }

  offer(): string {
    if (this.wantsFax !== undefined) return this.#describeFax();
    this.#encrypts = this.#keys !== undefined;
    this.rtp.awaitsKey = this.#encrypts && this.rtp.protection === undefined;
    return this.#describe(this.wanted, this.codecs, this.#keysByRtp ? TELEPHONE_EVENT : undefined);
  }

  /** Takes the far end's answer to the last offer. */
  acceptAnswer(text: string): void {
    if (this.wantsFax !== undefined) return this.#connectFax(text);
    const answer = this.#read(text);
    this.#protect(text);
    if (answer === undefined || this.#local === undefined) return;
    for (const mistake of answerMistakes(this.#local, this.#profile, answer)) this.#violation(`SDP answer: ${mistake}`);
    this.#connect(answer);
  }

  /** Answers an offer; undefined when nothing in it can be accepted (488). */
  answer(text: string): string | undefined {
    if (isFax(text)) return this.#answerFax(text);
    this.wantsFax = undefined;
    const offer = this.#read(text);
    const codecs = this.codecs.filter((codec) => offer?.codecs.includes(codec));
    if (offer === undefined || codecs.length === 0) return undefined;
    const direction = combine(answerTo(offer.direction), this.wanted);
    this.#protect(text);
    this.#encrypts = this.rtp.protection !== undefined;
    const own = this.#describe(direction, codecs, this.#keysByRtp ? offer.telephoneEvent : undefined, offer.types);
    this.#connect(offer);
    return withRefusals(text, own);
  }

  #answerFax(text: string): string | undefined {
    if (this.fax === undefined) return undefined;
    this.wantsFax = 'alone';
    this.#connectFax(text);
    return this.#describeFax();
  }

  #describeFax(): string {
    if (this.fax === undefined) throw new Error('this phone cannot fax');
    this.#version += 1;
    const sound = writeSdp({ ...(this.#local as LocalDescription), version: this.#version });
    return this.fax.describe(sound, { keepsSound: this.wantsFax === 'beside sound' });
  }

  #connectFax(text: string): void {
    this.#receives(text);
    if (!isFax(text)) this.#violation(`SDP: no fax in the answer to a fax: ${text}`);
    this.fax?.connect(text);
    this.rtp.play(undefined);
  }

  #protect(text: string): void {
    this.rtp.protection = this.#keys?.agreed(text);
    this.rtp.awaitsKey = false;
  }

  #describe(
    direction: Direction,
    codecs: readonly Codec[],
    telephoneEvent: number | undefined,
    offered: ReadonlyMap<Codec, number> = new Map(),
  ): string {
    this.#version += 1;
    const types = new Map(codecs.map((codec) => [codec, offered.get(codec) ?? CODECS[codec].payloadType]));
    this.#local = {
      sessionId: this.#sessionId,
      version: this.#version,
      port: this.rtp.port,
      ...(this.#address === undefined ? {} : { address: this.#address }),
      direction,
      codecs,
      types,
      telephoneEvent,
    };
    this.rtp.expect(new Map([...types].map(([codec, type]) => [type, codec])), telephoneEvent);
    const text = this.#describes(
      this.#encrypts ? (this.#keys as SdesKeys).encrypted(writeSdp(this.#local)) : writeSdp(this.#local),
    );
    this.#profile = /^m=audio \d+ (\S+)/m.exec(text)?.[1] ?? '';
    return text;
  }

  #read(text: string): AudioDescription | undefined {
    this.#receives(text);
    try {
      const description = parseSdp(text, this.#keys !== undefined);
      if (this.#remote !== undefined) {
        for (const mistake of versionMistakes(this.#remote, description)) this.#violation(`SDP: ${mistake}`);
      }
      return description;
    } catch (error) {
      if (!(error instanceof SdpError)) throw error;
      this.#violation(`SDP: ${error.message}`);
      return undefined;
    }
  }

  #connect(remote: AudioDescription): void {
    this.#remote = remote;
    const local = this.#local;
    const codec = remote.codecs.find((entry) => local?.codecs.includes(entry));
    if (local === undefined || codec === undefined) return;
    const sending =
      canSend(local.direction) && canReceive(remote.direction) && remote.port !== 0 && remote.address !== '0.0.0.0';
    this.rtp.connect(
      {
        address: remote.address,
        port: remote.port,
        codec,
        payloadType: remote.types.get(codec) ?? CODECS[codec].payloadType,
        telephoneEvent: remote.telephoneEvent,
      },
      sending,
    );
  }
}
