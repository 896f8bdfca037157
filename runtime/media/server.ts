/** One FreeSWITCH media server. */
import type { FsEndpoint, FsEvent } from 'drachtio-fsmrf';
import { mustHaveFamily } from './address-family.ts';
import { audioCodecs } from './audio-codecs.ts';
import { ConferenceMix } from './conference-mix.ts';
import { ChannelSession } from './channel-session.ts';
import { MediaEndpoint } from './endpoint.ts';
import type { EndpointServer, EndpointWish } from './endpoint-server.ts';
import { noDtlsServer } from './dtls-sdp.ts';
import { farEndSdp } from './far-end-sdp.ts';
import { firstCodecHeaders } from './first-codec.ts';
import { endLeftRecordings } from './left-recordings.ts';
import { MediaLink, type MediaServerAddress, type MediaRoute } from './link.ts';
import { MediaError } from './media-error.ts';
import { FiguresDesk } from './media-figures.ts';
import { secureHeaders, secureOfferHeaders } from './secure-headers.ts';
import { isEncrypted, mustEncrypt } from './sdp-streams.ts';
import { type RecordingEnd, RecordingNotices } from './recording-notices.ts';
import { SilenceLimit } from './silence-limit.ts';

/** Milliseconds to wait for a requested endpoint; SIP alone would take 32 s. */
const ENDPOINT_MS = 5000;
/** Milliseconds for which a media server that did not answer is tried last. */
const REST_MS = 5000;
/** Milliseconds of retries when a media server accepts no more sessions: FreeSWITCH limits them per second. */
const BUSY_PATIENCE_MS = 2500;
/** Average milliseconds before the first and the last of those attempts. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 500;

/** Milliseconds to wait until recordings begun by an earlier node are complete. */
const COMPLETE_MS = 2000;

/** The embedded media server then reports a tenth of a new channel. For FreeSWITCH it has no meaning. */
const CHANNEL_DATA = { 'X-Channel-Data': 'brief' };

/** Header of the INVITE that creates a channel. The embedded media server reads it. */
const PEER_HEADER = 'X-Media-Peer';

/** One FreeSWITCH: creates endpoints and counts the live ones. */
export class MediaServer implements EndpointServer {
  readonly name: string;
  readonly listenAddress: string;
  readonly recordings = new RecordingNotices();
  readonly figures = new FiguresDesk();
  readonly #silenceLimitMs: number;
  /** True for a server of another site. */
  readonly isRemote: boolean;
  readonly #links: MediaLink[] = [];
  readonly #live = new Set<MediaEndpoint>();
  #restUntil = 0;
  #closed = false;

  constructor(address: Omit<MediaServerAddress, 'password' | 'profile'>) {
    const { host, port, listenAddress, silenceLimitMs = 0, isRemote = false } = address;
    this.isRemote = isRemote;
    this.#silenceLimitMs = silenceLimitMs;
    this.name = `${host}:${port}`;
    this.listenAddress = listenAddress;
  }

  /**
   * Connects through another SIP server.
   * @throws MediaLinkError
   */
  async connect(route: MediaRoute, address: MediaServerAddress, timeoutMs?: number): Promise<void> {
    const told = {
      recorded: (file: string, end: RecordingEnd) => this.recordings.notice(file, end),
      ended: (event: FsEvent) => this.figures.take(event),
    };
    const link = await MediaLink.connect(route, address, told, timeoutMs);
    if (this.#closed) link.close();
    else this.#links.push(link);
  }

  /** True when it can create endpoints. */
  get usable(): boolean {
    return this.#links.some(({ usable }) => usable);
  }

  /** Number of connections to its event socket. */
  get links(): number {
    return this.#links.filter(({ connected }) => connected).length;
  }

  /** True when it recently failed to answer. */
  get resting(): boolean {
    return performance.now() < this.#restUntil;
  }

  /** Number of live endpoints. */
  get count(): number {
    return this.#live.size;
  }

  /**
   * Creates an endpoint. It answers the phone's session description if given; otherwise it makes an offer, and `modify`
   * takes the answer later.
   * @param patienceMs duration of retries while the media server accepts no more sessions
   * @throws MediaError with the SIP status of the refusal: 488 without a common codec, without encryption as it has to be, or for a
   * family of addresses that the media server does not have; 503 when it is busy, has no free RTP ports, or does not answer
   */
  async createEndpoint(wish: EndpointWish = {}, patienceMs = BUSY_PATIENCE_MS): Promise<MediaEndpoint> {
    const { via, remoteSdp, srtp, codecs, peer } = wish;
    const adapted = remoteSdp === undefined ? undefined : farEndSdp(remoteSdp, { srtp }, codecs);
    const secure = adapted === undefined ? secureOfferHeaders(wish) : secureHeaders(adapted, srtp);
    const end = performance.now() + patienceMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        const silence = new SilenceLimit(wish.mayBeSilent === true ? 0 : this.#silenceLimitMs, remoteSdp);
        const peerHeader = peer === undefined ? {} : { [PEER_HEADER]: peer };
        const first = adapted === undefined ? firstCodecHeaders(codecs?.order[0]) : {};
        const headers = { ...CHANNEL_DATA, ...silence.headers, ...secure, ...peerHeader, ...first };
        const endpoint = await this.#create({ via, remoteSdp: adapted }, headers);
        const session = new ChannelSession(endpoint, silence, wish);
        const made = new MediaEndpoint(endpoint, this, { via, srtp, peer, session });
        if (adapted === undefined && mustEncrypt(wish) && !session.encrypted) throw await withoutKeys(made);
        if (session.trustsAnybody) {
          await made.destroy();
          throw noDtlsServer();
        }
        if (adapted !== undefined) await withFamilyOf(adapted, made);
        return made;
      } catch (error) {
        const busy = error instanceof MediaError && error.status === 503 && this.usable && !this.resting;
        if (!busy || performance.now() + pause > end) throw error;
        await elapsed(pause * (0.5 + Math.random()));
      }
    }
  }

  /** Creates a conference with a unique name. */
  conference(name: string): ConferenceMix {
    return new ConferenceMix(name, this, (command) => this.#link(undefined).api(command), {
      completed: (file) => {
        for (const link of this.#links) link.watchConferences();
        return this.recordings.completed(file);
      },
      forget: (file) => this.recordings.forget(file),
    });
  }

  /**
   * Sends a command on the server's own connection.
   * @throws MediaError when the server is not connected
   */
  api(command: string): Promise<string> {
    return this.#link(undefined).api(command);
  }

  /**
   * Stops recordings to these files that an earlier node began. Settles when the files are complete.
   * @throws MediaError when the server is not connected
   */
  async endRecordings(files: ReadonlySet<string>): Promise<void> {
    const link = this.#link(undefined);
    link.watchConferences();
    const complete = new Map([...files].map((file) => [file, this.recordings.completed(file)]));
    try {
      const ended = await endLeftRecordings((command) => link.api(command), files);
      const all = Promise.all(ended.flatMap((file) => complete.get(file) ?? []));
      await Promise.race([all, elapsed(COMPLETE_MS)]);
    } finally {
      for (const file of files) this.recordings.forget(file);
    }
  }

  entered(endpoint: MediaEndpoint): void {
    this.#live.add(endpoint);
  }

  left(endpoint: MediaEndpoint): void {
    this.#live.delete(endpoint);
  }

  close(): void {
    this.#closed = true;
    for (const link of this.#links) link.close();
    this.figures.close();
  }

  /** @throws MediaError when the server is not connected */
  #link(via: string | undefined): MediaLink {
    const own = this.#links.find(({ route, usable }) => usable && route.name === via);
    const link = own ?? this.#links.find(({ usable }) => usable);
    if (link === undefined) throw new MediaError(`the media server at ${this.name} is not connected`, 503);
    return link;
  }

  async #create({ remoteSdp, via }: EndpointWish, headers: Readonly<Record<string, string>>): Promise<FsEndpoint> {
    const making = this.#link(via).createEndpoint({
      ...(remoteSdp === undefined ? {} : { remoteSdp }),
      headers: { ...headers },
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), ENDPOINT_MS);
    });
    try {
      const made = await Promise.race([making, late]);
      if (made !== undefined) return made;
    } catch (error) {
      const status = (error as { status?: unknown }).status;
      // Only an answer proves that it is alive.
      if (typeof status !== 'number' || status === 408) this.#rest();
      if (status === 488 && isAnswerable(remoteSdp))
        throw new MediaError(`the media server at ${this.name} has no free RTP ports`, 503, { cause: error });
      throw new MediaError(
        `the media server refused the endpoint: ${(error as Error).message}`,
        typeof status === 'number' && status !== 408 ? status : 503,
        { cause: error },
      );
    } finally {
      clearTimeout(timer);
    }
    this.#rest();
    // A late endpoint is no longer needed.
    making.then((endpoint) => endpoint.destroy()).catch(() => undefined);
    throw new MediaError(`the media server at ${this.name} made no endpoint in ${ENDPOINT_MS} ms`, 503);
  }

  #rest(): void {
    this.#restUntil = performance.now() + REST_MS;
  }
}

/**
 * Whether a media server can only lack ports when it refuses this: it says 488 then, as it does without a common codec. True where it is to
 * make the offer, and of plain G.711 over IPv4.
 */
function isAnswerable(sdp: string | undefined): boolean {
  if (sdp === undefined) return true;
  if (isEncrypted(sdp) || !/^c=IN IP4 /m.test(sdp)) return false;
  const codecs = audioCodecs(sdp);
  return codecs.has('PCMU') || codecs.has('PCMA');
}

/** Ends an endpoint whose answer has another family than the offer. */
async function withFamilyOf(offer: string, endpoint: MediaEndpoint): Promise<void> {
  try {
    mustHaveFamily(offer, endpoint.localSdp);
  } catch (error) {
    await endpoint.destroy();
    throw error;
  }
}

/** Ends an endpoint that offers plain sound where it has to be encrypted. */
async function withoutKeys(endpoint: MediaEndpoint): Promise<MediaError> {
  await endpoint.destroy();
  return new MediaError('the media server cannot offer encrypted media', 488, { phrase: 'Encrypted Media Required' });
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
