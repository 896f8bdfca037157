/** The far end of a call with ICE and DTLS, by werift: a full agent, as browsers are. */
import {
  MediaStreamTrack,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RtpHeader,
  RtpPacket,
  type RTCRtpTransceiver,
} from 'werift';
import { decode, encode } from './g711.ts';
import { Listener } from './listener.ts';
import { ToneSource } from './tone.ts';

const SAMPLES = 160;
const PACKET_MS = 20;

export class WebRtcPeer {
  readonly listener = new Listener();
  readonly connection: RTCPeerConnection;
  readonly #track = new MediaStreamTrack({ kind: 'audio' });
  readonly #transceiver: RTCRtpTransceiver;
  #tone = new ToneSource(440);
  #timer: NodeJS.Timeout | undefined;
  #sequence = 1;

  constructor() {
    this.connection = new RTCPeerConnection({
      codecs: { audio: [new RTCRtpCodecParameters({ mimeType: 'audio/PCMU', clockRate: 8000, payloadType: 0 })] },
      iceAdditionalHostAddresses: ['127.0.0.1'],
      iceServers: [],
    });
    this.#transceiver = this.connection.addTransceiver(this.#track, { direction: 'sendrecv' });
    this.#transceiver.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe(({ payload }) => this.listener.hear(decode('PCMU', payload)));
    });
    this.connection.connectionStateChange.subscribe((state) => {
      if (state === 'connected') this.#talk();
    });
  }

  async offer(): Promise<string> {
    await this.connection.setLocalDescription(await this.connection.createOffer());
    return this.connection.localDescription?.sdp ?? '';
  }

  async takeAnswer(sdp: string): Promise<void> {
    await this.connection.setRemoteDescription({ type: 'answer', sdp });
  }

  async answer(sdp: string): Promise<string> {
    await this.connection.setRemoteDescription({ type: 'offer', sdp });
    // werift would answer as the client of DTLS in any case.
    if (/^a=setup:active/m.test(sdp)) for (const each of this.connection.dtlsTransports) each.role = 'server';
    await this.connection.setLocalDescription(await this.connection.createAnswer());
    return this.connection.localDescription?.sdp ?? '';
  }

  play(frequency: number): void {
    this.#tone = new ToneSource(frequency);
  }

  async hears(frequency: number): Promise<void> {
    await this.listener.tone(frequency, 20_000);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.connection.close();
  }

  #talk(): void {
    this.#timer ??= setInterval(() => {
      const header = new RtpHeader({
        payloadType: 0,
        sequenceNumber: this.#sequence & 0xffff,
        timestamp: (this.#sequence * SAMPLES) >>> 0,
        ssrc: 1,
        marker: this.#sequence === 1,
      });
      this.#sequence += 1;
      this.#track.writeRtp(new RtpPacket(header, encode('PCMU', this.#tone.next(SAMPLES))));
    }, PACKET_MS);
  }
}
