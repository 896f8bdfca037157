/** ICE and DTLS on the RTP port of one call. */
import { SrtpSecurity } from '../srtp/security.ts';
import type { TimerSet } from '../core/timer-set.ts';
import type { DtlsThread, Handshake } from './dtls-thread.ts';
import { type Fingerprint, hasFingerprint } from './fingerprint.ts';
import { IceLite, type MediaAddress } from './ice-lite.ts';
import type { DtlsKeys } from './messages.ts';
import { isStun } from './stun.ts';

/** A handshake that has begun takes at most this long, ms: the library repeats its messages for some ten seconds. */
const HANDSHAKE_MS = 15_000;

/** Addresses of a far end that are told apart; agents try some dozens of paths at most. */
const MOST_PATHS = 64;

/** The first octets of DTLS records (RFC 7983). */
const FIRST_DTLS = 20;
const LAST_DTLS = 63;

/** Longest datagram of a handshake: fragments fit into an Ethernet frame. */
const MOST_DTLS_OCTETS = 2048;

/** The type of records of handshakes, and where they name the type of their first message; that of ClientHello. */
const HANDSHAKE = 22;
const MESSAGE_TYPE_AT = 13;
const CLIENT_HELLO = 1;

/** What the far end's session description says of DTLS and ICE. */
export interface RemoteDtls {
  readonly fingerprints: readonly Fingerprint[];
  /** `ufrag password` of ICE; undefined without ICE. */
  readonly ice: string | undefined;
}

/** The port that carries the packets. */
export interface Carrier {
  sendDatagram(datagram: Buffer, to: MediaAddress): void;
  /** Packets go there, and are taken from there only. */
  chooseSource(from: MediaAddress): void;
}

/** Takes what becomes of ICE and of the keys. */
export interface SecureListener {
  /** An authentic check has come. */
  checked(): void;
  /** Called once when the keys cannot be agreed; the call should end. */
  failed(reason: string): void;
  /** The far end has closed its DTLS session. */
  closed(): void;
}

/** Why no keys were agreed so far, for the log. */
type Progress =
  | 'ICE did not complete'
  | 'the DTLS handshake did not begin'
  | 'the DTLS handshake did not end'
  | undefined;

/**
 * Answers the checks of ICE on the RTP port, and makes the keys of SRTP by DTLS. Until then nothing is sent or taken. Packets of DTLS are
 * taken from addresses with authentic checks alone, and without ICE from anywhere.
 */
export class SecureTransport {
  readonly security = new SrtpSecurity();
  readonly #carrier: Carrier;
  readonly #dtls: DtlsThread;
  readonly #timers: TimerSet;
  readonly #listener: SecureListener;
  #ice = new IceLite();
  #remote: RemoteDtls | undefined;
  #handshake: Handshake | undefined;
  #peer: MediaAddress | undefined;
  /** Addresses from which authentic checks came. */
  readonly #checked = new Set<string>();
  #nominated = false;
  #connected = false;
  #isClosed = false;
  /** The call is over. */
  #closed = false;
  #cancelTimer: (() => void) | undefined;

  constructor(carrier: Carrier, dtls: DtlsThread, timers: TimerSet, listener: SecureListener) {
    this.#carrier = carrier;
    this.#dtls = dtls;
    this.#timers = timers;
    this.#listener = listener;
  }

  get ice(): IceLite {
    return this.#ice;
  }

  /** Whether the far end has closed its DTLS session, and begun no other. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get #peerName(): string | undefined {
    return this.#peer && nameOf(this.#peer);
  }

  /** What is missing for sound; undefined once there is a key. */
  get missing(): Progress {
    if (this.#connected || this.#remote === undefined) return undefined;
    if (this.#remote.ice !== undefined && !this.#nominated) return 'ICE did not complete';
    return this.#handshake === undefined ? 'the DTLS handshake did not begin' : 'the DTLS handshake did not end';
  }

  /** Takes the far end's session description. Other ICE credentials begin ICE anew, another certificate DTLS. */
  configure(remote: RemoteDtls): void {
    const before = this.#remote;
    this.#remote = remote;
    if (before === undefined) return;
    if (before.ice !== remote.ice) this.#ice = new IceLite();
    if (JSON.stringify(before.fingerprints) === JSON.stringify(remote.fingerprints)) return;
    this.#stopHandshake();
    this.#connected = false;
    this.#isClosed = false;
  }

  /** Takes a datagram at the RTP port. @returns false for RTP and RTCP, which are not its business */
  take(datagram: Buffer, from: MediaAddress): boolean {
    const [first = 255] = datagram;
    if (isStun(datagram)) this.#takeCheck(datagram, from);
    else if (first >= FIRST_DTLS && first <= LAST_DTLS) this.#takeRecord(datagram, from);
    else return false;
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#stopHandshake();
  }

  #takeCheck(datagram: Buffer, from: MediaAddress): void {
    if (from.port === 0) return;
    const check = this.#ice.check(datagram, from);
    if (check === undefined) return;
    this.#carrier.sendDatagram(check.answer, from);
    this.#listener.checked();
    if (this.#checked.size < MOST_PATHS) this.#checked.add(nameOf(from));
    if (!check.nominated) return;
    this.#nominated = true;
    this.#carrier.chooseSource(from);
  }

  #takeRecord(datagram: Buffer, from: MediaAddress): void {
    if (this.#remote === undefined || this.#closed || from.port === 0) return;
    if (datagram.length <= MESSAGE_TYPE_AT || datagram.length > MOST_DTLS_OCTETS) return;
    if (this.#remote.ice !== undefined && !this.#checked.has(nameOf(from))) return;
    if (this.#connected) {
      // A new handshake needs a new session description (RFC 8842 section 4).
      const isNew = datagram[0] === HANDSHAKE && datagram[MESSAGE_TYPE_AT] === CLIENT_HELLO;
      const isPeer = this.#remote.ice !== undefined || nameOf(from) === this.#peerName;
      if (isPeer && !isNew) this.#handshake?.receive(datagram);
      return;
    }
    this.#peer = { address: from.address, port: from.port };
    this.#handshake ??= this.#begin();
    this.#handshake.receive(datagram);
  }

  #begin(): Handshake {
    this.#cancelTimer = this.#timers.after(HANDSHAKE_MS, () => this.#fail('the DTLS handshake did not end'));
    return this.#dtls.open({
      send: (data) => {
        if (this.#peer !== undefined && !this.#closed) this.#carrier.sendDatagram(Buffer.from(data), this.#peer);
      },
      connected: (keys) => this.#agreed(keys),
      failed: (reason) => {
        if (!this.#connected) this.#fail(`the DTLS handshake failed: ${reason}`);
      },
      closed: () => {
        if (!this.#connected || this.#closed || this.#isClosed) return;
        this.#isClosed = true;
        this.#listener.closed();
      },
    });
  }

  #agreed({ suite, local, remote, certificate }: DtlsKeys): void {
    if (this.#closed || this.#connected) return;
    if (!hasFingerprint(certificate, this.#remote?.fingerprints ?? [])) {
      this.#fail('the certificate does not have the fingerprint of the session description');
      return;
    }
    this.#connected = true;
    this.#cancelTimer?.();
    this.security.use({ suite, key: Buffer.from(local) }, { suite, key: Buffer.from(remote) });
    if (this.#remote?.ice === undefined && this.#peer !== undefined) this.#carrier.chooseSource(this.#peer);
  }

  #fail(reason: string): void {
    this.#stopHandshake();
    if (!this.#closed) this.#listener.failed(reason);
  }

  #stopHandshake(): void {
    this.#cancelTimer?.();
    this.#handshake?.close();
    this.#handshake = undefined;
  }
}

function nameOf({ address, port }: MediaAddress): string {
  return `${address} ${port}`;
}
