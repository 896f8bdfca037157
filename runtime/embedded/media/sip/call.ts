/** The SIP side of a channel. */
import { isIP, isIPv6 } from 'node:net';
import { reportFault } from '../core/fault.ts';
import { reasonHeader } from '../core/hangup-cause.ts';
import type { Channel } from '../channel/channel.ts';
import type { Signalling } from '../channel/parts.ts';
import type { Codec, CodecName } from '../audio/codec.ts';
import { CODECS, isReady, prepareCodec } from '../audio/codecs.ts';
import { isG711 } from '../audio/g711.ts';
import { MediaTimeout } from '../rtp/media-timeout.ts';
import { PLAIN } from '../rtp/security.ts';
import type { RtpSession } from '../rtp/session.ts';
import { SrtpSecurity } from '../srtp/security.ts';
import type { DtlsThread } from '../webrtc/dtls-thread.ts';
import { isWildcard, type ServerTransaction, type SipRequest } from '../../stack/index.ts';
import { answerHeaders } from './headers.ts';
import { DtlsMedia } from './dtls-media.ts';
import type { RemoteFax } from './fax-lines.ts';
import { LocalKeys } from './local-keys.ts';
import {
  answerDirection,
  BAD_DESCRIPTION,
  type Direction,
  LocalDescription,
  type OfferedMedia,
  offersDtls,
  readDescription,
  type RemoteAudio,
  type RemoteDescription,
  withDirection,
} from './sdp.ts';

/**
 * State of a call: `answering` until the ACK of its INVITE, then `confirmed`, `ended` once BYE was sent or received. A
 * BYE requested before the ACK waits for it (RFC 3261 section 15).
 */
type CallState = 'answering' | 'confirmed' | 'ended';

/** The codecs of the server, and one of the far end as `ep_codec_string` writes it: in the form of FreeSWITCH's variables. */
const CODEC_NAMES = CODECS.map(({ name }) => name.toUpperCase()).join(',');
const SHOWN_CODECS: Readonly<Record<CodecName, string>> = {
  opus: 'mod_opus.opus@48000h@20i@2c',
  G722: 'mod_spandsp.G722@8000h@20i@64000b',
  PCMU: 'CORE_PCM_MODULE.PCMU@8000h@20i@64000b',
  PCMA: 'CORE_PCM_MODULE.PCMA@8000h@20i@64000b',
};

/** Values of `rtp_secure_media`; those with DTLS are this server's own. */
const SECURE_MEDIA: readonly OfferedMedia[] = ['forbidden', 'optional', 'mandatory', 'dtls', 'dtls-optional'];

/** Factor on the silence limit of a far end that holds, unless `media_hold_timeout` is set. */
const HOLD_FACTOR = 10;

/** An offer, and its answer. */
export type Offer = Pick<ServerTransaction, 'request' | 'onAck' | 'reply'>;

/** The dialog of a call. */
export interface CallDialog {
  /**
   * Sends a request in the dialog; its response is ignored.
   *
   * @param done called at the final response, or when there will be none
   */
  send(method: string, headers: Readonly<Record<string, string>>, body: string, done: () => void): void;
}

/** The SIP side of a channel: offers and answers, and the end of the dialog. */
export class Call implements Signalling {
  readonly #dialog: CallDialog;
  readonly rtp: RtpSession;
  readonly #keys = new LocalKeys();
  readonly #security = new SrtpSecurity();
  readonly dtls: DtlsMedia;
  readonly #local: LocalDescription;
  readonly #contact: string;
  readonly #onEnded: () => void;
  #state: CallState = 'answering';
  #pendingBye: string | undefined;
  /** INFO digits to send after the ACK. */
  readonly #pendingDigits: (() => void)[] = [];
  #channel: Channel | undefined;
  #timeout: MediaTimeout | undefined;
  /** The server's direction; as observed at FreeSWITCH, after an own offer the far end's. */
  #flow: Direction = 'sendrecv';
  /** Whether the call began with an offer of the far end. */
  #farEndOffered = false;
  /** Whether the answer to the own offer is still to come in an ACK. */
  #awaitsAnswer = false;

  constructor(dialog: CallDialog, rtp: RtpSession, contact: string, dtls: DtlsThread, onEnded: () => void) {
    this.#dialog = dialog;
    this.rtp = rtp;
    this.#contact = contact;
    this.#local = new LocalDescription(rtp.localAddress, rtp.localPort, this.#keys);
    this.dtls = new DtlsMedia(rtp, dtls, this.#local);
    this.#onEnded = onEnded;
  }

  set channel(channel: Channel) {
    this.#channel = channel;
    const expired = () => channel.hangup('MEDIA_TIMEOUT', 'application');
    const timeout = new MediaTimeout(this.rtp, channel.core.timers, expired);
    channel.onEnd(() => timeout.stop());
    this.dtls.serve(channel);
    this.#timeout = timeout;
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  /** Takes the first offer before its answer, for the channel's variables. */
  offered(remote: RemoteDescription | undefined): void {
    if (remote?.audio === undefined) return;
    this.#remoteAudio = remote.audio;
    this.#record(undefined, remote.text);
  }

  /** Whether the call needs a certificate, or a codec whose library is loaded with its first call. */
  needsPreparation(remote: RemoteDescription | undefined): boolean {
    const codec = remote?.audio?.codecs[0]?.codec;
    return this.#needsDtls(remote) || (codec !== undefined && !isReady(codec));
  }

  #needsDtls(remote: RemoteDescription | undefined): boolean {
    return remote === undefined ? offersDtls(this.#secureMedia) : remote.audio?.dtls !== undefined;
  }

  /** Loads what the first description needs. */
  async prepare(remote: RemoteDescription | undefined): Promise<void> {
    const codec = remote?.audio?.codecs[0]?.codec;
    await Promise.all([
      ...(this.#needsDtls(remote) ? [this.dtls.prepare()] : []),
      ...(codec === undefined ? [] : [prepareCodec(codec)]),
    ]);
  }

  /**
   * Answers the first INVITE.
   *
   * @param remote its offer; undefined without one
   * @returns false when offer and server have no common codec; nothing has been sent
   */
  answer(invite: Offer, remote: RemoteDescription | undefined, headers: Readonly<Record<string, string>>): boolean {
    if (remote === undefined) {
      this.#sendOffer(invite, headers);
      return true;
    }
    const audio = this.#usable(remote);
    const used = audio?.codecs[0];
    if (audio === undefined || used === undefined) return false;
    this.#farEndOffered = true;
    this.#apply(audio);
    const sdp = this.#local.answer(remote, audio, used);
    this.#record(sdp, remote.text);
    this.#sendSdp(invite, sdp, headers);
    return true;
  }

  /** Answers a re-INVITE or UPDATE (RFC 3261 section 14.2, RFC 3311). */
  modify(transaction: Offer): void {
    const text = transaction.request.body.toString('latin1');
    if (text === '') {
      if (transaction.request.method === 'INVITE') this.#sendOffer(transaction, {});
      else transaction.reply(200, { headers: answerHeaders(this.#contact) });
      return;
    }
    const remote = readDescription(text);
    if (remote === undefined) {
      transaction.reply(400, { reason: BAD_DESCRIPTION, headers: answerHeaders(this.#contact) });
      return;
    }
    if (remote.fax !== undefined && remote.audio === undefined && this.#passesFaxes(remote.fax)) {
      this.#takeFax(transaction, remote, remote.fax);
      return;
    }
    const audio = this.#usable(remote);
    const isPrepared = audio?.dtls === undefined || this.dtls.ready;
    const codec = audio?.codecs[0]?.codec;
    if (!isPrepared || (codec !== undefined && !isReady(codec))) {
      this.prepare(remote).then(
        () => this.modify(transaction),
        (error: unknown) => {
          reportFault('encryption or codec', error);
          transaction.reply(488, { headers: answerHeaders(this.#contact) });
        },
      );
      return;
    }
    const used = audio?.codecs[0];
    if (used === undefined && this.#farEndOffered) {
      transaction.reply(488, { headers: answerHeaders(this.#contact) });
      return;
    }
    if (audio === undefined || used === undefined) {
      // As in FreeSWITCH, a call whose first offer was the server's goes on without media.
      this.#timeout?.stop();
      this.rtp.configure({
        codec: this.rtp.codec,
        telephoneEvent: undefined,
        remoteAddress: '',
        remotePort: 0,
        maySend: false,
        mayReceive: false,
      });
      const sdp = this.#local.refusal(remote);
      this.#record(sdp, remote.text);
      this.#sendSdp(transaction, sdp, {});
      return;
    }
    this.#apply(audio);
    const sdp = this.#local.answer(remote, audio, used);
    this.#record(sdp, remote.text);
    this.#sendSdp(transaction, sdp, {});
    this.#tellHold(audio);
  }

  /** Whether a fax goes to the far end of the bridge. UDPTL is not encrypted. */
  #passesFaxes({ address }: RemoteFax): boolean {
    if (this.#channel?.bridged !== true || this.rtp.security !== PLAIN) return false;
    return isIP(address) !== 0 && isIPv6(address) === isIPv6(this.rtp.localAddress);
  }

  #takeFax(transaction: Offer, remote: RemoteDescription, fax: RemoteFax): void {
    // A fax machine that receives pages sends nothing for minutes.
    this.#timeout?.stop();
    this.rtp.relay(fax.address, fax.port);
    const sdp = this.#local.faxAnswer(remote, fax);
    this.#record(sdp, remote.text);
    this.#sendSdp(transaction, sdp, {});
  }

  /** Takes the ACK of the 200, which may have the answer to the server's offer. */
  acknowledged(ack: SipRequest): void {
    if (this.#awaitsAnswer && ack.body.length > 0) {
      this.#awaitsAnswer = false;
      const remote = readDescription(ack.body.toString('latin1'));
      const audio = remote === undefined ? undefined : this.#usable(remote);
      if (remote !== undefined && audio !== undefined && audio.codecs.length > 0) {
        this.#apply(audio);
        this.#flow = audio.direction;
        this.#record(undefined, remote.text);
      }
    }
    this.#confirm();
  }

  /** Ends the call with BYE because no ACK came in time. */
  acknowledgementMissing(): void {
    this.#confirm();
    this.#channel?.hangup('RECOVERY_ON_TIMER_EXPIRE', 'api');
  }

  /** Takes a BYE of the far end. */
  receivedBye(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#onEnded();
    if (this.#channel === undefined) this.rtp.close();
    else this.#channel.hangup('NORMAL_CLEARING', 'far-end');
  }

  end(cause: string): void {
    if (this.#state === 'answering') {
      this.#pendingBye = cause;
      return;
    }
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#dialog.send('BYE', { Reason: reasonHeader(cause) }, '', () => this.#onEnded());
  }

  sendInfoDigit(digit: string, milliseconds: number): void {
    const body = `Signal=${digit}\r\nDuration=${milliseconds}\r\n`;
    const send = () => this.#dialog.send('INFO', { 'Content-Type': 'application/dtmf-relay' }, body, () => undefined);
    if (this.#state === 'confirmed') send();
    else if (this.#state === 'answering') this.#pendingDigits.push(send);
  }

  /** What `rtp_secure_media` says of the server's offers; offers of the far end may be encrypted unless it is set. */
  get #secureMedia(): OfferedMedia | undefined {
    if (this.#channel?.get('media_webrtc') === 'true') return 'webrtc';
    const value = this.#channel?.get('rtp_secure_media');
    return SECURE_MEDIA.find((each) => each === value);
  }

  /** The far end's audio, unless `rtp_secure_media` or the family of its address excludes it. */
  #usable({ audio }: RemoteDescription): RemoteAudio | undefined {
    const excluded = audio?.crypto === undefined && audio?.dtls === undefined ? 'mandatory' : 'forbidden';
    return this.#secureMedia === excluded || !this.#isReachable(audio) ? undefined : audio;
  }

  /** Whether the call's port can send to the far end: it keeps the family of the beginning. */
  #isReachable(audio: RemoteAudio | undefined): boolean {
    if (audio === undefined || audio.dtls?.ice !== undefined || isIP(audio.address) === 0) return true;
    return isWildcard(audio.address) || isIPv6(audio.address) === isIPv6(this.rtp.localAddress);
  }

  #tellHold(audio: RemoteAudio): void {
    const held = audio.direction === 'inactive' || audio.direction === 'sendonly';
    if (held) this.#channel?.setCallState('HELD');
    else if (this.#channel?.callState === 'HELD') this.#channel.setCallState('UNHELD');
  }

  #confirm(): void {
    if (this.#state !== 'answering') return;
    this.#state = 'confirmed';
    for (const send of this.#pendingDigits.splice(0)) send();
    if (this.#pendingBye !== undefined) this.end(this.#pendingBye);
  }

  #sendOffer(invite: Offer, headers: Readonly<Record<string, string>>): void {
    const sdp = this.#local.offer('sendrecv', this.#secureMedia ?? 'forbidden');
    this.#awaitsAnswer = true;
    this.#record(sdp, undefined);
    this.#sendSdp(invite, sdp, headers);
  }

  #sendSdp(transaction: Offer, sdp: string, headers: Readonly<Record<string, string>>): void {
    transaction.onAck = (ack) => this.acknowledged(ack);
    transaction.reply(200, {
      headers: {
        ...answerHeaders(this.#contact),
        ...headers,
        'Content-Type': 'application/sdp',
        'Content-Disposition': 'session',
      },
      body: sdp,
    });
  }

  #apply(audio: RemoteAudio): void {
    const direction = answerDirection(audio.direction);
    this.#flow = direction;
    const [used] = audio.codecs;
    this.#secure(audio);
    this.rtp.configure({
      codec: used?.codec ?? this.rtp.codec,
      ...(used === undefined ? {} : { payloadType: used.payloadType, wanted: used.parameters }),
      formats: formatsOf(audio),
      telephoneEvent: audio.telephoneEvent?.payloadType,
      ...(audio.telephoneEvent === undefined ? {} : { eventClock: audio.telephoneEvent.clockRate }),
      ...this.#addressOf(audio),
      maySend: direction === 'sendrecv' || direction === 'sendonly',
      mayReceive: direction === 'sendrecv' || direction === 'recvonly',
    });
    this.#remoteAudio = audio;
    this.#timeout?.watch(this.#silenceLimitMs(audio));
  }

  /** The far end's address; with ICE the one that its checks have chosen. */
  #addressOf({ address, port, dtls }: RemoteAudio): { remoteAddress: string; remotePort: number } {
    const chosen = dtls?.ice === undefined ? { address, port: isWildcard(address) ? 0 : port } : this.dtls.chosen;
    return { remoteAddress: chosen?.address ?? '', remotePort: chosen?.port ?? 0 };
  }

  #secure({ crypto, dtls }: RemoteAudio): void {
    if (dtls !== undefined) {
      this.dtls.apply(dtls);
      return;
    }
    if (crypto === undefined) {
      this.rtp.secure(PLAIN);
      return;
    }
    this.rtp.secure(this.#security);
    // The echo of an own offer, which stands for a far end that is still to come: its key is no far end's.
    if (crypto.key.equals(this.#keys.of(crypto.suite))) return;
    this.#security.use(this.#keys.answering(crypto), crypto);
  }

  /** Longest silence of the far end, ms; 0 for no limit, as when it only listens. */
  #silenceLimitMs({ direction }: RemoteAudio): number {
    const limit = (name: string) => Number(this.#channel?.get(`${name}_audio`) ?? this.#channel?.get(name)) || 0;
    const talking = limit('media_timeout');
    if (direction === 'recvonly' || talking === 0) return 0;
    return direction === 'sendrecv' ? talking : limit('media_hold_timeout') || talking * HOLD_FACTOR;
  }

  #remoteAudio: RemoteAudio | undefined;
  #localSdp = '';
  #remoteSdp: string | undefined;

  #record(local: string | undefined, remote: string | undefined): void {
    if (local !== undefined) this.#localSdp = withDirection(local);
    if (remote !== undefined) this.#remoteSdp = remote;
    if (this.#channel !== undefined) this.exportVariables(this.#channel);
  }

  /** Sets the channel's variables to the negotiated values, for drachtio-fsmrf. */
  exportVariables(channel: Channel): void {
    const { localAddress, localPort, ssrc, telephoneEvent } = this.rtp;
    const used = this.#remoteAudio?.codecs[0];
    const codec = used?.codec ?? this.rtp.codec;
    const payloadType = String(used?.payloadType ?? codec.payloadType);
    const offered = (this.#remoteAudio?.codecs.map((each) => each.codec) ?? CODECS).map(
      ({ name }) => SHOWN_CODECS[name],
    );
    const values: Record<string, string> = {
      ep_codec_string: offered.join(','),
      rtp_use_codec_string: CODEC_NAMES,
      remote_video_media_flow: 'inactive',
      remote_text_media_flow: 'inactive',
      remote_audio_media_flow: this.#remoteAudio?.direction ?? 'inactive',
      audio_media_flow: this.#flow,
      rtp_audio_recv_pt: payloadType,
      rtp_use_codec_name: codec.name,
      rtp_use_codec_rate: String(codec.clockRate),
      rtp_use_codec_ptime: '20',
      rtp_use_codec_channels: '1',
      rtp_last_audio_codec_string: `${codec.name}@${codec.clockRate}h@20i@1c`,
      read_codec: codec.name,
      original_read_codec: codec.name,
      read_rate: String(codec.rate),
      original_read_rate: String(codec.rate),
      write_codec: codec.name,
      write_rate: String(codec.rate),
      dtmf_type: telephoneEvent === undefined && this.#remoteAudio !== undefined ? 'info' : 'rfc2833',
      local_media_ip: localAddress,
      local_media_port: String(localPort),
      advertised_media_ip: localAddress,
      rtp_use_timer_name: 'soft',
      rtp_use_pt: payloadType,
      rtp_use_ssrc: String(ssrc),
      rtp_2833_send_payload: String(telephoneEvent ?? 101),
      rtp_2833_recv_payload: String(telephoneEvent ?? 101),
      rtp_secure_media_negotiated: this.#remoteAudio?.crypto?.suite ?? '',
      remote_media_ip: this.#remoteAudio?.address ?? '',
      remote_media_port: String(this.#remoteAudio?.port ?? ''),
      rtp_local_sdp_str: this.#localSdp,
      switch_r_sdp: this.#remoteSdp ?? '',
    };
    for (const [name, value] of Object.entries(values)) {
      if (value !== '') channel.variables.set(name, value);
    }
  }
}

/** Codecs by the payload types that the far end may use: its own for the codec in use, or the one of the server's offer. */
function formatsOf({ codecs }: RemoteAudio): ReadonlyMap<number, Codec> {
  const [used] = codecs;
  const formats = new Map<number, Codec>();
  if (used === undefined) return formats;
  formats.set(used.codec.payloadType, used.codec);
  for (const { codec, payloadType } of codecs) {
    // G.711 needs no decoder that would have to be opened.
    if (codec === used.codec || isG711(codec)) formats.set(payloadType, codec);
  }
  return formats;
}
