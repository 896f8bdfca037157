import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser as Chromium, BrowserContext, ElementHandle, Page } from 'puppeteer-core';
import { eventually } from '../support/eventually.ts';
import { launchChromium } from './chromium.ts';
import { toneFile } from './media/tone-file.ts';

const INSIDE = new URL('browser-inside.js', import.meta.url);
/** dB; what the analyser shows for a tone of the test phones is about -25. */
const AUDIBLE = -50;

/** A Chromium whose microphone hears a tone. */
export class Browser {
  readonly #chromium: Chromium;
  readonly #folder: string;
  readonly #inside: string;
  #contexts: BrowserContext[] = [];

  private constructor(chromium: Chromium, folder: string, inside: string) {
    this.#chromium = chromium;
    this.#folder = folder;
    this.#inside = inside;
  }

  /**
   * @param tone of the microphone, Hz
   * @param anyCertificate accepts servers with a certificate of the test
   */
  static async start(
    program: string,
    { tone, anyCertificate = false }: { tone: number; anyCertificate?: boolean },
  ): Promise<Browser> {
    const folder = await mkdtemp(join(tmpdir(), 'ringmaster-browser-'));
    const wav = join(folder, 'tone.wav');
    await writeFile(wav, toneFile(tone, 10));
    const chromium = await launchChromium(program, [
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${wav}`,
      ...(anyCertificate ? ['--ignore-certificate-errors'] : []),
    ]);
    return new Browser(chromium, folder, await readFile(INSIDE, 'utf8'));
  }

  /**
   * A page with the phone, in a window that shares nothing with others.
   * @param base `http://host:port`
   */
  async open(base: string, { microphone = true, path = '/phone' } = {}): Promise<BrowserPhone> {
    return new BrowserPhone(await this.window(base, `${base}${path}`, { microphone }));
  }

  /** A page in a window that shares nothing with others. */
  async window(origin: string, url: string, { microphone = true } = {}): Promise<Page> {
    const context = await this.#chromium.createBrowserContext();
    this.#contexts.push(context);
    await context.overridePermissions(origin, microphone ? ['microphone'] : []);
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    noteErrors(page);
    await page.evaluateOnNewDocument(this.#inside);
    await page.goto(url);
    return page;
  }

  /** Closes the windows; returns the errors of their pages. */
  async clear(): Promise<string[]> {
    const contexts = this.#contexts;
    this.#contexts = [];
    const pages = (await Promise.all(contexts.map((context) => context.pages()))).flat();
    const errors = pages.flatMap((page) => PAGE_ERRORS.get(page) ?? []);
    for (const context of contexts) await context.close();
    return errors;
  }

  async stop(): Promise<void> {
    await this.#chromium.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const PAGE_ERRORS = new WeakMap<Page, string[]>();

function noteErrors(page: Page): void {
  const errors: string[] = [];
  PAGE_ERRORS.set(page, errors);
  page.on('pageerror', (error) => errors.push(String(error)));
  // Reports violations of the content security policy and missing files. The console learns its rights from refused requests.
  const expected = () =>
    page.url().endsWith('/phone') ? /WebSocket connection/ : /Failed to load|WebSocket connection/;
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected().test(message.text())) errors.push(message.text());
  });
}

/** Waits until the newest call of a page brings a tone. */
export async function hears(page: Page, frequency: number, withinMs: number): Promise<void> {
  await eventually(async () => {
    const { level, loudest, at } = await hear(page, frequency);
    if (level < AUDIBLE || level < loudest - 20)
      throw new Error(`${frequency} Hz has ${level} dB; the loudest is ${at} Hz with ${loudest} dB`);
  }, withinMs);
}

async function hear(page: Page, frequency: number): Promise<{ level: number; loudest: number; at: number }> {
  return (await page.evaluate(`hear(${frequency})`)) as never;
}

/** The phone page as its user sees it. Labels are those of buttons and fields, texts what is shown. */
export class BrowserPhone {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Types the account into the form, and logs in. */
  async logIn(login: string, password = `demo-${login}`, domain = 'demo.local'): Promise<void> {
    const fields = { Login: login, Domain: domain, 'SIP password': password };
    for (const [label, value] of Object.entries(fields)) await this.type(label, value);
    await this.press('Log in');
  }

  /** Logs in, and waits for the registration. */
  async register(login: string): Promise<void> {
    await this.logIn(login);
    await this.shows('#line', `Ready: ${login}@demo.local`);
  }

  async dial(number: string): Promise<void> {
    await this.type('Number or login', number);
    await this.page.keyboard.press('Enter');
  }

  async type(label: string, value: string): Promise<void> {
    const field = await this.#find(`fieldOf(${JSON.stringify(label)})`, `a field "${label}"`);
    await field.click({ count: 3 });
    await this.page.keyboard.press('Backspace');
    await field.type(value);
  }

  /** Presses a button, in the card of a call where several have one. */
  async press(label: string, card = ''): Promise<void> {
    const found = `buttonOf(${JSON.stringify(label)}, ${JSON.stringify(card)})`;
    await (await this.#find(found, `a button "${label}"`)).click();
  }

  /** Presses one button after the other, faster than any server answers. */
  async pressAtOnce(...labels: string[]): Promise<void> {
    const press = labels.map((label) => `buttonOf(${JSON.stringify(label)}, '').click();`);
    await this.page.evaluate(`(async () => { ${press.join(' await new Promise((next) => setTimeout(next)); ')} })()`);
  }

  async tick(label: string): Promise<void> {
    await (await this.#find(`fieldOf(${JSON.stringify(label)})`, `a box "${label}"`)).click();
  }

  /** How often the page has asked for the microphone. */
  async microphonesAsked(): Promise<number> {
    return Number(await this.page.evaluate('microphonesAsked'));
  }

  /** What the page keeps in the browser. */
  async kept(): Promise<unknown> {
    return this.page.evaluate('({ ...localStorage })');
  }

  /** Waits until a part of the page shows a text. @param part selector */
  async shows(part: string, text: string, withinMs = 15_000): Promise<void> {
    await eventually(async () => {
      const shown = await this.text(part);
      const problem = await this.text('#problem');
      if (!shown.includes(text)) throw new Error(`${part} does not show "${text}" but "${shown}" (${problem})`);
    }, withinMs);
  }

  /** The visible text of a part of the page. @param part selector */
  async text(part: string): Promise<string> {
    const found = `document.querySelector(${JSON.stringify(part)})`;
    // Without the check, it would be the text of a hidden element too.
    return String(await this.page.evaluate(`${found}.checkVisibility() ? ${found}.innerText : ''`));
  }

  /** Waits until the newest call brings a tone. */
  async hears(frequency: number, withinMs = 10_000): Promise<void> {
    await hears(this.page, frequency, withinMs);
  }

  /** Waits until the newest call does not bring a tone any more. */
  async hearsNoMore(frequency: number, withinMs = 10_000): Promise<void> {
    await eventually(async () => {
      const { level } = await hear(this.page, frequency);
      if (level > AUDIBLE) throw new Error(`${frequency} Hz is heard with ${level} dB`);
    }, withinMs);
  }

  /** From now on the page finds no address of the computer, as in a Chromium without a network. */
  async hideNetworks(): Promise<void> {
    await this.page.evaluate(`RTCPeerConnection = class extends RTCPeerConnection {
      get iceGatheringState() { return 'gathering'; }
      addEventListener(type, ...rest) { if (type !== 'icecandidate') super.addEventListener(type, ...rest); }
    }`);
  }

  /** Waits for an element. @param found an expression of the page */
  async #find(found: string, name: string): Promise<ElementHandle> {
    return eventually(async () => {
      const element = (await this.page.evaluateHandle(found)).asElement();
      if (element === null) throw new Error(`the page has not ${name}: ${await this.text('main')}`);
      return element as ElementHandle;
    }, 15_000);
  }
}
