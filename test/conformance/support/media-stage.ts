import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Codec } from '../../phones/media/codecs.ts';
import type { OutgoingCall } from '../../phones/outgoing-call.ts';
import type { PhoneCall } from '../../phones/phone-call.ts';
import { Phone } from '../../phones/phone.ts';
import { Arrivals } from '../../phones/wait.ts';
import { eventually } from '../../support/eventually.ts';
import { unexplained } from '../../support/real-servers.ts';
import { connectMedia, type Endpoint, type MediaServer } from './fsmrf.ts';
import { connectRoutedApp } from './routed-app.ts';
import { type Held, mediaServer, sipServer } from './servers.ts';
import type { App, Dialog, Request, Response, Srf } from './srf.ts';

/** A phone in a call with an endpoint of the media server. */
export interface Connected {
  readonly phone: Phone;
  readonly call: OutgoingCall;
  readonly dialog: Dialog;
  readonly endpoint: Endpoint;
}

/**
 * The surroundings of a media server test: a SIP server, the media server and one application for the file; phones and
 * endpoints for each test. The media server must see this machine's files: prompts and recordings are in `folder`.
 */
export class MediaStage {
  readonly folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  readonly #incoming = new Arrivals<{ request: Request; response: Response }>('INVITE at the application');
  #held: Held[] = [];
  #app: App | undefined;
  #media: MediaServer | undefined;
  #address: Held['address'] | undefined;
  #phones: Phone[] = [];
  #endpoints: Endpoint[] = [];

  async open(): Promise<void> {
    const [sip, media] = [await sipServer(), await mediaServer()];
    this.#held = [sip, media];
    this.#address = media.address;
    this.#app = await connectRoutedApp(sip.address, (srf) => {
      srf.use('invite', (request, response) => this.#incoming.push({ request, response }));
    });
    this.#media = await connectMedia(this.#app.srf, media.address);
  }

  get srf(): Srf {
    return this.#running().srf;
  }

  get media(): MediaServer {
    if (this.#media === undefined) throw new Error('the stage is not open');
    return this.#media;
  }

  /** Address of the event socket. */
  get address(): Held['address'] {
    if (this.#address === undefined) throw new Error('the stage is not open');
    return this.#address;
  }

  /** Ends an endpoint with the test. */
  keep(endpoint: Endpoint): Endpoint {
    endpoint.conn.socket.setNoDelay(true);
    this.#endpoints.push(endpoint);
    return endpoint;
  }

  async phone(codecs: readonly Codec[] = ['PCMU', 'PCMA'], { keysByRtp = true } = {}): Promise<Phone> {
    const login = `phone${this.#phones.length + 1}`;
    const phone = await Phone.start({ login, domain: 'phones.test', codecs, keysByRtp });
    this.#phones.push(phone);
    return phone;
  }

  /** A phone calls, and the application connects it to a new endpoint. */
  async connect(codecs?: readonly Codec[], options?: { keysByRtp?: boolean }): Promise<Connected> {
    const phone = await this.phone(codecs, options);
    const call = await phone.call(`sip:service@${this.#running().sip}`);
    const { request, response } = await this.#incoming.next(3000);
    const { endpoint, dialog } = await this.media.connectCaller(request, response);
    await call.answered();
    // A call ended by the phone ends its endpoint.
    dialog.on('destroy', () => void endpoint.destroy().catch(() => undefined));
    return { phone, call, dialog, endpoint: this.keep(endpoint) };
  }

  /** Ends the phones and endpoints of the test. */
  async clear(): Promise<void> {
    const [phones, endpoints] = [this.#phones, this.#endpoints];
    this.#phones = [];
    this.#endpoints = [];
    await Promise.all(phones.map((phone) => phone.stop()));
    await Promise.all(endpoints.filter(({ connected }) => connected).map((endpoint) => endpoint.destroy()));
    const violations = unexplained(phones.flatMap((phone) => [...phone.violations]));
    expect(violations, 'violations of SIP, SDP or RTP seen by the phones').to.deep.equal([]);
  }

  async close(): Promise<void> {
    this.#media?.disconnect();
    this.#app?.close();
    for (const held of this.#held) await held.close();
    rmSync(this.folder, { recursive: true });
  }

  #running(): App {
    if (this.#app === undefined) throw new Error('the stage is not open');
    return this.#app;
  }
}

/** Settles when the phone no longer hears the tone; packets on their way may still be heard. */
export async function fallsSilent(call: PhoneCall, tone: number): Promise<void> {
  await eventually(() => call.hearsNot(tone, { forMs: 250 }));
}

/** Prepares the stage for the tests of a `describe`. */
export function useMediaStage(): MediaStage {
  const stage = new MediaStage();
  before('connect an application to both servers', () => stage.open());
  afterEach('end calls; no violations', () => stage.clear());
  after('disconnect', () => stage.close());
  return stage;
}
