import { parseSdp } from '../../phones/media/sdp.ts';
import { Registration } from '../../phones/registration.ts';
import { Dialog } from '../../phones/sip/dialog.ts';
import { SipEndpoint } from '../../phones/sip/endpoint.ts';
import { token } from '../../phones/sip/message.ts';
import { connectSound, openSound, type SoundSocket } from '../rtp/streams.ts';

const DOMAIN = 'demo.local';
const HEADER_BYTES = 12;
const PAYLOAD_BYTES = 160;
const FRAME_MS = 20;
/** A packet this much after the previous one is late: the listener's jitter buffer may be empty. */
const LATE_GAP_MS = 40;

/** Arrival of the sound of conferences. */
export interface Arrival {
  readonly received: number;
  /** Packets more than 40 ms after the previous one. */
  readonly late: number;
  readonly longestGapMs: number;
}

/** A phone with many calls in many rooms; every call plays a tone. */
export class RoomCallers {
  readonly #sounds: SoundSocket[] = [];
  readonly #server: { address: string; port: number };
  readonly #alice: SipEndpoint;
  readonly #packets = new Map<SoundSocket, Buffer>();

  private constructor(alice: SipEndpoint, server: { address: string; port: number }) {
    this.#alice = alice;
    this.#server = server;
  }

  /** @param server `ip:port` */
  static async open(server: string): Promise<RoomCallers> {
    const [address = '', port] = server.split(':');
    const alice = await SipEndpoint.open('udp', {
      request: (transaction) => transaction.respond(200),
      cancelled: () => undefined,
    });
    const callers = new RoomCallers(alice, { address, port: Number(port) });
    const registration = new Registration(alice, callers.#peer(), `sip:alice@${DOMAIN}`, DOMAIN);
    const contact = `sip:alice@${alice.hostPort}`;
    const { status } = await registration.register({
      expires: 600,
      contact,
      username: 'alice',
      password: 'demo-alice',
    });
    if (status !== 200) throw new Error(`alice cannot register: ${status}`);
    return callers;
  }

  get count(): number {
    return this.#sounds.length;
  }

  /** Enters a room; settles when answered. */
  async enter(number: string): Promise<void> {
    const sound = await openSound();
    const invite = {
      kind: 'request' as const,
      method: 'INVITE',
      uri: `sip:${number}@${DOMAIN}`,
      headers: [
        { name: 'From', value: `<sip:alice@${DOMAIN}>;tag=${token()}` },
        { name: 'To', value: `<sip:${number}@${DOMAIN}>` },
        { name: 'Call-ID', value: token() },
        { name: 'CSeq', value: '1 INVITE' },
        { name: 'Contact', value: `<sip:alice@${this.#alice.hostPort}>` },
        { name: 'Content-Type', value: 'application/sdp' },
      ],
      body: description(sound.port),
    };
    const transaction = this.#alice.send(invite, this.#peer());
    const response = await transaction.final;
    if (response?.status !== 200) throw new Error(`the call was refused: ${response?.status ?? 'no answer'}`);
    this.#alice.sendAck(Dialog.ofCaller(transaction.request, response).request('ACK', [], '', 1), this.#peer());
    await connectSound(sound, parseSdp(response.body).port);
    this.#packets.set(sound, rtpPacket(this.#sounds.length));
    this.#sounds.push(sound);
  }

  /** Every call sends a packet every 20 ms, evenly spread; the gaps between received packets are measured after a second. */
  async talk(measuredMs: number): Promise<Arrival> {
    let received = 0;
    let late = 0;
    let longestGapMs = 0;
    const began = performance.now();
    const listeners = this.#sounds.map((sound) => {
      let before: number | undefined;
      const listener = () => {
        const now = performance.now();
        if (now - began > 1000) {
          received += 1;
          const gap = before === undefined ? FRAME_MS : now - before;
          if (gap > LATE_GAP_MS) late += 1;
          longestGapMs = Math.max(longestGapMs, gap);
          before = now;
        }
      };
      sound.socket.on('message', listener);
      return { sound, listener };
    });
    await this.#send(began, measuredMs + 1000);
    for (const { sound, listener } of listeners) sound.socket.removeListener('message', listener);
    return { received, late, longestGapMs };
  }

  async close(): Promise<void> {
    for (const { socket } of this.#sounds) socket.close();
    await this.#alice.close();
  }

  #send(began: number, forMs: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    let slot = 0;
    const run = () => {
      const now = performance.now() - began;
      if (now >= forMs) return done.resolve();
      for (const due = (now * this.#sounds.length) / FRAME_MS; slot <= due; slot += 1) {
        const sound = this.#sounds[slot % this.#sounds.length];
        const packet = sound && this.#packets.get(sound);
        if (!sound || !packet) continue;
        packet.writeUInt16BE((packet.readUInt16BE(2) + 1) & 0xffff, 2);
        packet.writeUInt32BE((packet.readUInt32BE(4) + PAYLOAD_BYTES) >>> 0, 4);
        sound.socket.send(Buffer.from(packet));
      }
      setTimeout(run, 1);
    };
    run();
    return done.promise;
  }

  #peer() {
    return this.#alice.peer(this.#server.address, this.#server.port);
  }
}

/** A G.711 packet of a coarse tone, which the mixer treats as a voice. */
function rtpPacket(index: number): Buffer {
  const packet = Buffer.alloc(HEADER_BYTES + PAYLOAD_BYTES);
  packet.writeUInt8(0x80, 0);
  packet.writeUInt32BE(0x20000 + index, 8);
  const half = 4 + (index % 16);
  for (let at = 0; at < PAYLOAD_BYTES; at += 1) packet[HEADER_BYTES + at] = at % (2 * half) < half ? 0xa0 : 0x20;
  return packet;
}

function description(port: number): string {
  return [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${port} RTP/AVP 0`,
    'a=rtpmap:0 PCMU/8000',
    '',
  ].join('\r\n');
}
