import { setTimeout as delay } from 'node:timers/promises';
import type { ServerAddress } from '../../../runtime/config/config.ts';
import { connectMedia, type Endpoint, type MediaServer } from '../../conformance/support/fsmrf.ts';
import type { Srf } from '../../conformance/support/srf.ts';
import { MiniSrf } from '../../embedded/media/support/mini-srf.ts';
import { connectSound, forward, openSound, type SoundSocket } from '../rtp/streams.ts';
import { type Heard, receive } from './receiver.ts';

/** A tone longer than every measurement. */
const SOUND = 'tone_stream://%(600000,0,440)';

const CLOSE_MS = 5000;

/** Endpoints of a media server that play or are bridged in pairs, and the sockets of their far ends. */
export class MediaCalls {
  readonly #srf: MiniSrf;
  readonly #media: MediaServer;
  readonly #endpoints: Endpoint[] = [];
  readonly #sockets: SoundSocket[] = [];
  #count = 0;
  #kind: 'playing' | 'bridged' = 'playing';

  private constructor(srf: MiniSrf, media: MediaServer) {
    this.#srf = srf;
    this.#media = media;
  }

  static async open(address: ServerAddress): Promise<MediaCalls> {
    const srf = await MiniSrf.start();
    return new MediaCalls(srf, await connectMedia(srf as unknown as Srf, address));
  }

  /** Established calls. */
  get count(): number {
    return this.#count;
  }

  /** Adds calls up to this number. */
  async grow(kind: 'playing' | 'bridged', count: number): Promise<void> {
    this.#kind = kind;
    for (; this.#count < count; this.#count += 1) {
      const first = await this.#endpoint();
      if (kind === 'playing') void first.play(SOUND).catch(() => undefined);
      else await first.bridge(await this.#endpoint());
    }
  }

  /** Receives the sound of all calls for a while. */
  async listen(milliseconds: number): Promise<Heard> {
    const heard = receive(this.#sockets, milliseconds);
    if (this.#kind === 'playing') return heard;
    // A server with a reading clock delays all packets of a stream alike: only additional delay counts.
    const [arrivals] = await Promise.all([heard, forward(this.#sockets, 0, milliseconds)]);
    return arrivals;
  }

  async close(): Promise<void> {
    const destroyed = Promise.all(this.#endpoints.map(async (endpoint) => endpoint.destroy().catch(() => undefined)));
    // An endpoint that failed while it was created never settles.
    await Promise.race([destroyed, delay(CLOSE_MS, undefined, { ref: false })]);
    this.#media.disconnect();
    for (const { socket } of this.#sockets) socket.close();
    await this.#srf.close();
  }

  async #endpoint(): Promise<Endpoint> {
    const sound = await openSound();
    const endpoint = await this.#create(description(sound.port));
    endpoint.conn.socket.setNoDelay(true);
    await connectSound(sound, Number(endpoint.local.mediaPort));
    this.#sockets.push(sound);
    this.#endpoints.push(endpoint);
    return endpoint;
  }

  async #create(remoteSdp: string): Promise<Endpoint> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#media.createEndpoint({ remoteSdp });
      } catch (error) {
        if (tries === TRIES) throw error;
      }
    }
  }
}

/** drachtio-fsmrf waits four seconds for the media server's connection, which never comes for a taken RTP port. */
const TRIES = 3;

function description(port: number): string {
  const media = [`m=audio ${port} RTP/AVP 0`, 'a=rtpmap:0 PCMU/8000', 'a=ptime:20', ''];
  return ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', ...media].join('\r\n');
}
