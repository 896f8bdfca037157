/** The far end of a call with keys by DTLS and without ICE, as desk phones are, by werift's handshake. */
import { createHash } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  CipherContext,
  DtlsClient,
  HashAlgorithm,
  NamedCurveAlgorithm,
  ProtectionProfileAes128CmHmacSha1_80,
  RtpHeader,
  RtpPacket,
  SignatureAlgorithm,
} from 'werift';
import { decode, encode } from './g711.ts';
import { Listener } from './listener.ts';
import { type Protection, protection } from './srtp.ts';
import { ToneSource } from './tone.ts';

const SAMPLES = 160;
const PACKET_MS = 20;
const SIGNATURE = { signature: SignatureAlgorithm.ecdsa_3, hash: HashAlgorithm.sha256_4 };

/** Octets of DTLS records (RFC 7983, RFC 6347). */
const [FIRST_DTLS, LAST_DTLS] = [20, 63];
const ALERT = 21;
const DTLS_1_2 = 0xfefd;

/** An alert that says good-bye: a warning, close_notify. */
const CLOSE_NOTIFY = Buffer.of(1, 0);

export class DtlsPeer {
  readonly listener = new Listener();
  readonly #socket: Socket;
  readonly #client: DtlsClient;
  readonly #transport: { onData(data: Buffer, from: readonly [string, number]): void };
  #server: { readonly address: string; readonly port: number } | undefined;
  #protection: Protection | undefined;
  #tone = new ToneSource(440);
  #timer: NodeJS.Timeout | undefined;
  #sequence = 1;
  /** Called once it knows the server, before its first message. */
  beforeHandshake: () => void = () => undefined;

  private constructor(socket: Socket, certificate: { readonly certPem: string; readonly keyPem: string }) {
    this.#socket = socket;
    const transport = {
      type: 'udp',
      closed: false,
      address: { address: '', family: 'IPv4', port: 0 },
      onData: (_data: Buffer, _from: readonly [string, number]): void => undefined,
      send: (data: Buffer): Promise<void> => {
        this.inject(data);
        return Promise.resolve();
      },
      close: (): Promise<void> => Promise.resolve(),
    };
    this.#transport = transport;
    this.#client = new DtlsClient({
      transport,
      cert: certificate.certPem,
      key: certificate.keyPem,
      signatureHash: SIGNATURE,
      srtpProfiles: [ProtectionProfileAes128CmHmacSha1_80],
      extendedMasterSecret: true,
    });
    this.#client.onConnect.subscribe(() => this.#talk());
    socket.on('message', (datagram) => this.#take(datagram));
  }

  static async open(): Promise<DtlsPeer> {
    const certificate = await CipherContext.createSelfSignedCertificateWithKey(
      SIGNATURE,
      NamedCurveAlgorithm.secp256r1_23,
    );
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new DtlsPeer(socket, certificate);
  }

  /** Its description, as the client of DTLS. */
  answer(offer: string): string {
    this.#shakeHandsWith(offer);
    return this.#description('active');
  }

  offer(): string {
    return this.#description('actpass');
  }

  takeAnswer(answer: string): void {
    this.#shakeHandsWith(answer);
  }

  play(frequency: number): void {
    this.#tone = new ToneSource(frequency);
  }

  async hears(frequency: number): Promise<void> {
    await this.listener.tone(frequency, 20_000);
  }

  /** Sends no more sound. */
  fallSilent(): void {
    clearInterval(this.#timer);
  }

  /** Sends any datagram from its port. */
  inject(datagram: Buffer): void {
    if (this.#server !== undefined) this.#socket.send(datagram, this.#server.port, this.#server.address);
  }

  /** The alert by which it closes DTLS, sealed by its key. */
  closingAlert(): Buffer {
    const { cipher, dtls } = this.#client;
    dtls.recordSequenceNumber += 1;
    const header = { type: ALERT, version: DTLS_1_2, epoch: 1, sequenceNumber: dtls.recordSequenceNumber };
    const sealed = cipher.cipher.encrypt(cipher.sessionType, CLOSE_NOTIFY, header);
    return record(header.epoch, header.sequenceNumber, sealed);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  #description(setup: 'active' | 'actpass'): string {
    const { port } = this.#socket.address();
    const digest = createHash('sha256').update(this.#client.cipher.localCert).digest('hex').toUpperCase();
    return [
      'v=0',
      `o=- ${port} 1 IN IP4 127.0.0.1`,
      's=-',
      'c=IN IP4 127.0.0.1',
      't=0 0',
      `m=audio ${port} UDP/TLS/RTP/SAVP 0`,
      'a=rtpmap:0 PCMU/8000',
      'a=rtcp-mux',
      `a=fingerprint:sha-256 ${(digest.match(/../g) ?? []).join(':')}`,
      `a=setup:${setup}`,
      '',
    ].join('\r\n');
  }

  #shakeHandsWith(sdp: string): void {
    const address = /^c=IN IP4 (\S+)/m.exec(sdp)?.[1] ?? '';
    this.#server = { address, port: Number(/^m=audio (\d+) /m.exec(sdp)?.[1]) };
    this.beforeHandshake();
    // Its last flight fails when the socket is closed meanwhile.
    void this.#client.connect().catch(() => undefined);
  }

  #take(datagram: Buffer): void {
    const [first = 0] = datagram;
    if (first >= FIRST_DTLS && first <= LAST_DTLS) {
      this.#transport.onData(datagram, ['', 0]);
      return;
    }
    const packet = this.#protection?.open(datagram);
    if (packet !== undefined) this.listener.hear(decode('PCMU', RtpPacket.deSerialize(packet).payload));
  }

  #talk(): void {
    const { localKey, localSalt, remoteKey, remoteSalt } = this.#client.extractSessionKeys(16, 14);
    this.#protection = protection(
      'AES_CM_128_HMAC_SHA1_80',
      Buffer.concat([localKey, localSalt]),
      Buffer.concat([remoteKey, remoteSalt]),
    );
    this.#timer ??= setInterval(() => this.#send(), PACKET_MS);
  }

  #send(): void {
    const header = new RtpHeader({
      payloadType: 0,
      sequenceNumber: this.#sequence & 0xffff,
      timestamp: (this.#sequence * SAMPLES) >>> 0,
      ssrc: 1,
      marker: this.#sequence === 1,
    });
    this.#sequence += 1;
    const packet = new RtpPacket(header, encode('PCMU', this.#tone.next(SAMPLES))).serialize();
    const sealed = this.#protection?.seal(packet);
    if (sealed !== undefined) this.inject(sealed);
  }
}

/** An alert that nobody has sealed. @param epoch that it claims: 0 in clear */
export function forgedAlert(epoch: number, fragment: Buffer = CLOSE_NOTIFY): Buffer {
  return record(epoch, 7, fragment);
}

function record(epoch: number, sequence: number, fragment: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt8(ALERT, 0);
  header.writeUInt16BE(DTLS_1_2, 1);
  header.writeUInt16BE(epoch, 3);
  header.writeUIntBE(sequence, 5, 6);
  header.writeUInt16BE(fragment.length, 11);
  return Buffer.concat([header, fragment]);
}
