/** SIP.js on a page of a site of its own, in Chromium. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import type { Page } from 'puppeteer-core';
import { eventually } from '../support/eventually.ts';
import { type Browser, hears } from './browser.ts';

const INSIDE = fileURLToPath(new URL('sipjs-inside.js', import.meta.url));

/** States of a call of SIP.js. */
type State = 'Initial' | 'Establishing' | 'Established' | 'Terminating' | 'Terminated';

interface Shown {
  readonly registered: boolean;
  /** Oldest first. */
  readonly calls: readonly { readonly state: State; readonly held: boolean }[];
  readonly texts: readonly string[];
}

export interface SipJsAccount {
  /** `ws://` or `wss://` URL. */
  readonly server: string;
  readonly login: string;
  /** How it sends digits: as telephone-events, or by INFO. */
  readonly digits?: 'rtp' | 'info';
}

/** The web server of a site whose page has SIP.js. */
export class SipJsSite {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<SipJsSite> {
    const { outputFiles } = await build({ entryPoints: [INSIDE], bundle: true, format: 'esm', write: false });
    await stop();
    const script = outputFiles[0]?.text ?? '';
    const server = createServer(({ url }, response) => {
      const [type, body] =
        url === '/page.js'
          ? ['text/javascript', script]
          : ['text/html', '<!doctype html><title>SIP.js</title><script type="module" src="/page.js"></script>'];
      response.setHeader('content-type', `${type}; charset=utf-8`).end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SipJsSite(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A window of the browser with this page, registered. */
  async open(browser: Browser, account: SipJsAccount): Promise<SipJsPhone> {
    const page = await browser.window(this.origin, `${this.origin}/`);
    await page.waitForFunction('globalThis.phone !== undefined');
    const { login } = account;
    const phone = new SipJsPhone(page);
    await phone.do('start', { digits: 'rtp', ...account, password: `demo-${login}`, domain: 'demo.local' });
    await phone.shows(({ registered }) => registered);
    return phone;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A page with SIP.js. */
export class SipJsPhone {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Calls a method of `phone` in the page. */
  async do(method: string, ...args: readonly unknown[]): Promise<void> {
    // Nothing that cannot be sent to this process is returned.
    await this.#page.evaluate(`phone.${method}(${args.map((arg) => JSON.stringify(arg)).join(', ')}).then(() => null)`);
  }

  /** Waits until the page shows something. */
  async shows(what: (shown: Shown) => boolean, withinMs = 15_000): Promise<void> {
    await eventually(async () => {
      const shown = (await this.#page.evaluate('phone.shown()')) as Shown;
      if (!what(shown)) throw new Error(`SIP.js shows ${JSON.stringify(shown)}`);
    }, withinMs);
  }

  /** Waits until its newest call has a state. */
  async is(state: State): Promise<void> {
    await this.shows(({ calls }) => calls.at(-1)?.state === state);
  }

  async call(number: string): Promise<void> {
    await this.do('call', `sip:${number}@demo.local`);
  }

  /** Waits for a call, and takes it. */
  async answer(): Promise<void> {
    await this.is('Initial');
    await this.do('answer');
    await this.is('Established');
  }

  /** Waits until the newest call brings a tone. */
  async hears(frequency: number, withinMs = 10_000): Promise<void> {
    await hears(this.#page, frequency, withinMs);
  }
}
