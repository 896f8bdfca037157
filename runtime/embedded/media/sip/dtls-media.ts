/** Keys by DTLS, and ICE, of one call. */
import type { Channel } from '../channel/channel.ts';
import type { RtpSession } from '../rtp/session.ts';
import type { DtlsThread } from '../webrtc/dtls-thread.ts';
import { Consent, CONSENT_MS } from '../webrtc/consent.ts';
import type { MediaAddress } from '../webrtc/ice-lite.ts';
import { SecureTransport } from '../webrtc/secure-transport.ts';
import type { RemoteDtlsLines } from './dtls-lines.ts';
import type { LocalDescription } from './sdp.ts';

/** The far end's time for a BYE after it has closed DTLS, ms. */
const CLOSED_MS = 5000;

/** Makes the transport of a call when its session description first needs it. */
export class DtlsMedia {
  readonly #rtp: RtpSession;
  readonly #thread: DtlsThread;
  readonly #local: LocalDescription;
  #channel: Channel | undefined;
  #transport: SecureTransport | undefined;
  #fingerprint = '';
  #chosen: MediaAddress | undefined;

  constructor(rtp: RtpSession, thread: DtlsThread, local: LocalDescription) {
    this.#rtp = rtp;
    this.#thread = thread;
    this.#local = local;
  }

  /** Whether the call can be described with DTLS. */
  get ready(): boolean {
    return this.#transport !== undefined;
  }

  /** Where the far end's checks have found it. */
  get chosen(): MediaAddress | undefined {
    return this.#chosen;
  }

  /** The channel of the call, which a failure ends. */
  serve(channel: Channel): void {
    this.#channel = channel;
    channel.onEnd(() => {
      const missing = this.#transport?.missing;
      if (missing !== undefined) this.#note(missing);
      this.#transport?.close();
    });
  }

  /** Loads the certificate, and opens the RTP port for checks. Rejects when DTLS cannot start, or the call is over. */
  async prepare(): Promise<void> {
    this.#fingerprint = await this.#thread.fingerprint();
    const channel = this.#channel;
    if (channel?.ended !== false) throw new Error('the call is over');
    if (this.#transport !== undefined) return;
    const carrier = {
      sendDatagram: (datagram: Buffer, to: MediaAddress) => this.#rtp.sendDatagram(datagram, to),
      chooseSource: (from: MediaAddress) => {
        this.#chosen = from;
        this.#rtp.chooseSource(from);
      },
    };
    const consent = new Consent(this.#rtp, channel.core.timers, () =>
      this.#lost(channel, `the far end has sent neither checks nor sound for ${CONSENT_MS / 1000} s`),
    );
    channel.onEnd(() => consent.stop());
    const transport = new SecureTransport(carrier, this.#thread, channel.core.timers, {
      checked: () => consent.checked(),
      failed: (reason) => {
        this.#note(reason);
        channel.hangup('DESTINATION_OUT_OF_ORDER', 'application');
      },
      closed: () => this.#farEndClosed(channel, transport),
    });
    this.#transport = transport;
    this.#describe(transport);
    this.#rtp.secure(transport.security);
    this.#rtp.carry((datagram, from) => transport.take(datagram, { address: from.address, port: from.port }));
  }

  /** Takes the far end's description. */
  apply(remote: RemoteDtlsLines): void {
    const transport = this.#transport;
    // The echo of an own offer stands for a far end that is still to come. Nobody else has the certificate.
    const isEcho = remote.fingerprints.some(({ value }) => value === this.#fingerprint);
    if (transport === undefined || isEcho) return;
    transport.configure(remote);
    this.#describe(transport);
    this.#rtp.secure(transport.security);
  }

  /** Ends the call of a far end that closed DTLS and has sent nothing since: a page that is gone, or a phone that ended. */
  #farEndClosed(channel: Channel, transport: SecureTransport): void {
    const cancel = channel.core.timers.after(CLOSED_MS, () => {
      // Packets that left before the alert may come after it.
      const isSilent = this.#rtp.silentMs >= CLOSED_MS / 2;
      if (transport.isClosed && isSilent) this.#lost(channel, 'the far end closed DTLS, and sent nothing more');
    });
    channel.onEnd(cancel);
  }

  #lost(channel: Channel, reason: string): void {
    if (channel.ended) return;
    this.#note(reason);
    channel.hangup('MEDIA_TIMEOUT', 'application');
  }

  #describe({ ice }: SecureTransport): void {
    this.#local.dtls = { fingerprint: this.#fingerprint, ice, ssrc: this.#rtp.ssrc };
  }

  /** For the log of the node, which reads it at the end of the call. */
  #note(reason: string): void {
    if (this.#channel?.get('rtp_secure_media_failure') !== undefined) return;
    this.#channel?.set('rtp_secure_media_failure', reason);
  }
}
