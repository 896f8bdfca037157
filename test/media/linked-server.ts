import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import { MediaServer } from '../../runtime/media/server.ts';
import { type Held, mediaServer } from '../conformance/support/servers.ts';
import { MiniSrf } from '../embedded/media/support/mini-srf.ts';
import { RtpPhone } from '../embedded/media/support/rtp-phone.ts';

/** A media server, and the node's link to it. */
export class LinkedServer {
  #server: Held | undefined;
  #srf: MiniSrf | undefined;
  #link: MediaServer | undefined;
  readonly #phones: RtpPhone[] = [];

  async start(): Promise<void> {
    this.#server = await mediaServer();
    this.#srf = await MiniSrf.start();
    const { host, port, secret } = this.#server.address;
    const address = { host, port, password: secret, profile: 'drachtio_mrf', listenAddress: '127.0.0.1' };
    this.#link = new MediaServer(address);
    await this.#link.connect({ name: 'sip', srfForMedia: this.#srf, connected: true }, address);
  }

  get address(): Held['address'] {
    if (!this.#server) throw new Error('the media server has not been started');
    return this.#server.address;
  }

  get link(): MediaServer {
    if (!this.#link) throw new Error('the media server has not been started');
    return this.#link;
  }

  /** The way to the media server. */
  get srf(): MiniSrf {
    if (!this.#srf) throw new Error('the media server has not been started');
    return this.#srf;
  }

  /** An endpoint for a new phone. */
  async endpoint(): Promise<{ endpoint: MediaEndpoint; phone: RtpPhone }> {
    const phone = await RtpPhone.open();
    this.#phones.push(phone);
    return { phone, endpoint: await this.link.createEndpoint({ remoteSdp: phone.sdp() }) };
  }

  async closePhones(): Promise<void> {
    for (const phone of this.#phones.splice(0)) await phone.close();
  }

  async close(): Promise<void> {
    await this.closePhones();
    this.#link?.close();
    await this.#srf?.close();
    await this.#server?.close();
  }
}

/** A media server for the tests of this group; phones are closed after each. */
export function useLinkedServer(): LinkedServer {
  const server = new LinkedServer();
  before(() => server.start());
  afterEach(() => server.closePhones());
  after(() => server.close());
  return server;
}
