/** The media session of a channel. */
import type { FsEndpoint } from 'drachtio-fsmrf';
import { mustHaveFamily } from './address-family.ts';
import { audioCodecs, listedCodecs } from './audio-codecs.ts';
import { reinvite } from './channel-dialog.ts';
import { bestCodec, type CodecName, type CodecWish, inWantedOrder } from './codec-order.ts';
import { asDtlsClient, asDtlsOffer, asDtlsReoffer, hasSetup, inDirectionOf, withoutHold } from './dtls-sdp.ts';
import { answerFor, farEndSdp } from './far-end-sdp.ts';
import { isFax } from './fax-sdp.ts';
import { ENDPOINT_GONE, MediaError } from './media-error.ts';
import { isDtls, isEncrypted, type OfferedKeys, type SrtpPolicy, type StreamPolicy } from './sdp-streams.ts';
import type { SilenceLimit } from './silence-limit.ts';
import { elapsed } from './until-aborted.ts';

/** How often, and in which milliseconds, a key or codec that is about to change is asked for. */
const ATTEMPTS = 25;
const PAUSE_MS = 20;

/** What a session needs of its channel. */
export interface SessionChannel {
  /** @param variable `name value` */
  set(variable: string): Promise<void>;
  get(name: string): Promise<string>;
  /** Parks it again; settles when it has begun. */
  parkAnew(): Promise<void>;
}

/** The session negotiated between a channel of the media server and its far end. */
export class ChannelSession {
  readonly #endpoint: FsEndpoint;
  readonly #silence: SilenceLimit;
  /** Codecs of the channel, upper case; empty when the media server does not list them. */
  readonly #codecs: ReadonlySet<string>;
  readonly #faxRelay: string | undefined;
  #spent = false;
  /** Whether the media server, FreeSWITCH, has to be the client of DTLS. */
  readonly #isDtlsClient: boolean;
  readonly #policy: StreamPolicy;
  readonly #wish: CodecWish | undefined;
  /** The codec that it used when it was parked first, in capitals; undefined for a media server that changes it at once. */
  readonly #firstCodec: string | undefined;
  /** Until the first answer to its offer. */
  #unanswered = true;
  /** Whether the channel made the first offer. */
  readonly #offered: boolean;
  #local: string;
  #remote: string | undefined;
  /** The keys that the far end has been told. */
  #told: ReadonlySet<string>;

  /**
   * @param silence the channel's limit for a silent far end
   * @param wish.srtp encryption that the far end may or must use
   * @param wish.keys the keys that it is offered
   * @param wish.codecs its wanted codecs
   * @param wish.remoteSdp the far end's initial session description, if any
   */
  constructor(
    endpoint: FsEndpoint,
    silence: SilenceLimit,
    wish: {
      readonly srtp?: SrtpPolicy | undefined;
      readonly keys?: OfferedKeys | undefined;
      readonly codecs?: CodecWish | undefined;
      readonly remoteSdp?: string | undefined;
    },
  ) {
    const { srtp, keys, codecs, remoteSdp: remote } = wish;
    this.#policy = remote === undefined ? { srtp, keys } : { srtp };
    this.#wish = codecs;
    this.#endpoint = endpoint;
    this.#silence = silence;
    const info = endpoint.conn?.getInfo();
    this.#codecs = listedCodecs(info?.getHeader('variable_rtp_use_codec_string') ?? '');
    this.#faxRelay = info?.getHeader('variable_fax_relay');
    this.#isDtlsClient = info?.getHeader('variable_dtls_client') === 'true';
    this.#firstCodec = info?.getHeader('variable_rtp_use_codec_name')?.toUpperCase();
    this.#remote = remote;
    this.#offered = remote === undefined;
    this.#local =
      remote === undefined ? this.#ownOffer(endpoint.local.sdp) : answerFor(remote, endpoint.local.sdp, { srtp });
    this.#told = keysIn(this.#local);
  }

  #ownOffer(sdp: string): string {
    return inWantedOrder(this.#isDtlsClient && isDtls(sdp) ? asDtlsOffer(sdp) : sdp, this.#wish);
  }

  /** The key by which an endpoint of FreeSWITCH encrypts, which it changes some milliseconds after its answer. */
  async #presentKey(channel: SessionChannel): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const key = await channel.get('rtp_last_audio_local_crypto_key');
      const changes = isKey(key) && this.#unanswered && keysIn(`a=crypto:${key}`).isSubsetOf(this.#told);
      if (!changes || attempt === ATTEMPTS) return key;
      await elapsed(PAUSE_MS);
    }
  }

  /** Whether its sound is encrypted. */
  get encrypted(): boolean {
    return isEncrypted(this.#local);
  }

  /** Its codec; undefined before the negotiation, and for one that is not known here. */
  get codec(): CodecName | undefined {
    return this.#remote === undefined ? undefined : bestCodec(this.#local, undefined);
  }

  /** Whether the media server passes faxes on, for this far end: UDPTL is not encrypted. */
  get passesFaxes(): boolean {
    return (this.#faxRelay === 'true' || this.staysFax) && !this.encrypted;
  }

  /** Whether a channel that has passed a fax on can never have sound again: FreeSWITCH's (docs/decisions/0049). */
  get staysFax(): boolean {
    return this.#faxRelay === 'for-life';
  }

  /**
   * Whether a fax cannot begin with this channel: FreeSWITCH answers each offer to a channel that it was asked to describe first
   * with sound, at once.
   */
  get beginsNoFax(): boolean {
    return this.staysFax && this.#offered;
  }

  /** The far end's last description of sound. */
  get remote(): string | undefined {
    return this.#remote;
  }

  /** Whether the channel has passed a fax on, and can never have sound again. */
  get spent(): boolean {
    return this.#spent;
  }

  get codecs(): CodecWish | undefined {
    return this.#wish;
  }

  /** The keys that an offer to the same far end has. */
  get keys(): OfferedKeys {
    if (!isDtls(this.#local)) return 'sdes';
    return /^a=ice-ufrag:/m.test(this.#remote ?? this.#local) ? 'webrtc' : 'dtls';
  }

  /** Whether the far end would be taken without a look at its certificate: FreeSWITCH is the server of DTLS. */
  get trustsAnybody(): boolean {
    return this.#isDtlsClient && isDtls(this.#local) && hasSetup(this.#local, 'passive');
  }

  /** Whether the far end has described itself without telephone-events (RFC 4733): its digits are tones in the sound. */
  get digitsAreTones(): boolean {
    return this.#remote !== undefined && !(hasEvents(this.#remote) && hasEvents(this.#local));
  }

  /**
   * Whether the media server encrypts by another key than the one it offered: FreeSWITCH makes a new one when it takes the far end's
   * answer, which reaches it as an offer (RFC 3264 section 8). The far end needs the new description then.
   */
  get rekeyed(): boolean {
    return !keysIn(this.#local).isSubsetOf(this.#told);
  }

  /** The far end gets the present description. */
  told(): void {
    this.#told = keysIn(this.#local);
  }

  /** The session description for the far end. */
  get local(): string {
    return this.#local;
  }

  /**
   * Sends the far end's new session description to the channel. A refusal keeps the session (RFC 3261 section 14.2).
   * @param described its offer, or its answer
   * @param gone aborted when the channel has ended
   * @param channel sets and reads its variables, and parks it
   * @returns the answer
   * @throws MediaError with status 488 without a common codec, without encryption as it has to be, or with an address of another family
   * than the channel's; the reason of `gone`
   */
  async modify(described: string, gone: AbortSignal, channel: SessionChannel): Promise<string> {
    const sdp = this.#isDtlsClient && isDtls(this.#local) ? asDtlsReoffer(described) : described;
    const shown = farEndSdp(sdp, this.#policy, this.#wish);
    // Not sent at all: FreeSWITCH does not answer for seconds after an offer without a known codec.
    if (this.#codecs.size > 0 && this.#codecs.isDisjointFrom(audioCodecs(shown))) throw noCodec();
    mustHaveFamily(shown, this.#local);
    try {
      this.#local = await this.#describe(sdp, gone, channel);
      this.#remote = sdp;
      this.#unanswered = false;
      return this.#local;
    } catch (error) {
      // The media server may have accepted an impossible offer and have no sound since (docs/conformance.md).
      if (!gone.aborted) await this.soundAgain(gone, channel);
      throw error;
    }
  }

  async #describe(remote: string, gone: AbortSignal, channel: SessionChannel): Promise<string> {
    const variable = this.#silence.variableFor(remote);
    if (variable !== undefined) await channel.set(variable);
    // Until the far end is known, FreeSWITCH must not send checks: its offer, sent back as the answer, has its own address.
    if (this.#isDtlsClient && this.#offered && this.#unanswered) await channel.set('ice_lite false');
    const shown = farEndSdp(remote, this.#policy, this.#wish);
    const isAdapted = this.#isDtlsClient && isDtls(this.#local);
    const codec = this.#newCodec(shown);
    // With keys by DTLS nothing is sent before the handshake, for which the far end has to be known.
    const changesAlone = codec !== undefined && !isDtls(shown);
    if (changesAlone) {
      await reinvite(this.#endpoint, atAddressOf(this.#local, withoutHold(shown)), gone);
      await becomes(codec, channel);
    }
    const answer = await reinvite(this.#endpoint, isAdapted ? withoutHold(shown) : shown, gone);
    if (!hasAudio(answer)) throw noCodec();
    if (codec !== undefined && !changesAlone) await becomes(codec, channel);
    const answered = answerFor(remote, answer, this.#policy);
    const described = isAdapted ? asDtlsClient(inDirectionOf(remote, answered)) : answered;
    // Only of an own offer: FreeSWITCH then goes on describing the key that it offered.
    if (!this.#offered || !isEncrypted(described) || isDtls(described)) return described;
    return withKey(described, await this.#presentKey(channel));
  }

  /**
   * The codec that the first answer of a called far end brings in place of the one with which the channel began. FreeSWITCH changes it
   * while it still sends to itself: see docs/decisions/0052-a-called-phone-changes-the-codec-first.md.
   */
  #newCodec(shown: string): string | undefined {
    if (!this.#offered || !this.#unanswered || this.#firstCodec === undefined) return undefined;
    const codec = bestCodec(shown, undefined)?.toUpperCase();
    return codec === this.#firstCodec ? undefined : codec;
  }

  /** Applies the far end's last description of sound again. */
  async soundAgain(gone: AbortSignal, channel: SessionChannel): Promise<void> {
    if (this.#remote !== undefined) this.#local = await this.#describe(this.#remote, gone, channel);
  }

  /**
   * Passes a fax on between the far end and the other side of the bridge, until the next description of sound; or, on a
   * channel that stays so, for the rest of its life.
   * @param sdp the far end's description of the fax
   * @param other the other side, with its far end's description
   * @throws MediaError with status 488 when the media server passes on no faxes; the reason of `gone`
   */
  async passFax(
    sdp: string,
    gone: AbortSignal,
    other: { readonly session: ChannelSession; readonly sdp: string },
  ): Promise<void> {
    if (!this.staysFax) {
      await this.#describeFax(sdp, gone);
      await other.session.#describeFax(other.sdp, gone);
      return;
    }
    const before = other.session.#answerWith(other.sdp);
    try {
      await this.#describeFax(sdp, gone);
      this.#spent = other.session.#spent = true;
    } catch (error) {
      other.session.#answerWith(before);
      throw error;
    }
  }

  async #describeFax(sdp: string, gone: AbortSignal): Promise<void> {
    const answer = await reinvite(this.#endpoint, sdp, gone);
    if (!isFax(answer)) throw new MediaError('the media server passes no fax on', 488);
  }

  /**
   * FreeSWITCH offers the fax of one side to the other by a re-INVITE, which the library answers with this description.
   * @returns the description before
   */
  #answerWith(sdp: string): string {
    const { dialog } = this.#endpoint;
    if (dialog === null) throw ENDPOINT_GONE;
    const before = dialog.local.sdp;
    dialog.local.sdp = sdp;
    return before;
  }
}

/** Settles when the channel uses this codec, some 60 ms after the answer of FreeSWITCH, and is parked with it. */
async function becomes(codec: string, channel: SessionChannel): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if ((await channel.get('rtp_use_codec_name')).trim().toUpperCase() === codec) return channel.parkAnew();
    await elapsed(PAUSE_MS);
  }
}

/** The description of a far end, at the address of another one. */
function atAddressOf(other: string, sdp: string): string {
  const line = /^c=.*$/m.exec(other)?.[0];
  const port = /^m=audio (\d+)/m.exec(other)?.[1];
  if (line === undefined || port === undefined) return sdp;
  return sdp
    .replace(/^c=.*$/gm, line)
    .replace(/^(m=audio) \d+/m, `$1 ${port}`)
    .replace(/^a=rtcp:.*\n/gm, '');
}

/** The description with this key alone, the value of an `a=crypto` line; anything else changes nothing. */
function withKey(sdp: string, key: string): string {
  if (!isKey(key)) return sdp;
  const [first = '', ...others] = sdp.split(/^a=crypto:.*\r?\n/m);
  return `${first}a=crypto:${key.trim()}\r\n${others.join('')}`;
}

function isKey(value: string): boolean {
  return /^\d+ \S+ inline:\S+$/.test(value.trim());
}

/** The keys of `a=crypto` lines (RFC 4568). */
function keysIn(sdp: string): ReadonlySet<string> {
  return new Set(Array.from(sdp.matchAll(/^a=crypto:.*\binline:([^|\s]+)/gm), ([, key = '']) => key));
}

function hasAudio(sdp: string): boolean {
  return /^m=audio [1-9]/m.test(sdp);
}

function hasEvents(sdp: string): boolean {
  return /^a=rtpmap:\d+ telephone-event\//im.test(sdp);
}

function noCodec(): MediaError {
  return new MediaError('no codec in common with the phone', 488);
}
