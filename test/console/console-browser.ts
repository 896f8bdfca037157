/** The console in a headless Chromium, as its users see it. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser as Chromium, BrowserContext, ElementHandle, Page } from 'puppeteer-core';
import { launchChromium } from '../phones/chromium.ts';
import { eventually } from '../support/eventually.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const PATIENCE_MS = 20_000;

export type Scheme = 'light' | 'dark';

/** A Chromium, and windows of it that share nothing. */
export class ConsoleBrowser {
  readonly #chromium: Chromium;
  readonly #axe: string;
  #contexts: BrowserContext[] = [];

  private constructor(chromium: Chromium, axe: string) {
    this.#chromium = chromium;
    this.#axe = axe;
  }

  static async start(program: string): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(await launchChromium(program, ['--lang=en-US']), await readFile(AXE, 'utf8'));
  }

  /** A window at a page. @param base `http://host:port` @param hash as `#/calls` */
  async open(base: string, hash = '', { width = 1280, height = 800 } = {}): Promise<ConsoleWindow> {
    const context = await this.#chromium.createBrowserContext();
    this.#contexts.push(context);
    const page = await context.newPage();
    await page.setViewport({ width, height });
    page.setDefaultTimeout(PATIENCE_MS);
    const opened = new ConsoleWindow(page, this.#axe);
    await page.goto(`${base}/${hash}`);
    return opened;
  }

  /** Closes the windows; returns the errors of their pages. */
  async clear(): Promise<string[]> {
    const contexts = this.#contexts;
    this.#contexts = [];
    const pages = (await Promise.all(contexts.map((context) => context.pages()))).flat();
    const errors = pages.flatMap((page) => ERRORS.get(page) ?? []);
    for (const context of contexts) await context.close();
    return errors;
  }

  async stop(): Promise<void> {
    await this.#chromium.close();
  }
}

const ERRORS = new WeakMap<Page, string[]>();

export class ConsoleWindow {
  readonly page: Page;
  readonly #axe: string;

  constructor(page: Page, axe: string) {
    this.page = page;
    this.#axe = axe;
    const errors: string[] = [];
    ERRORS.set(page, errors);
    page.on('pageerror', (error) => errors.push(String(error)));
    // Violations of the content security policy. Refused requests and broken connections are logged by Chromium, and part of tests.
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|WebSocket connection/.test(message.text()))
        errors.push(message.text());
    });
  }

  async logIn(login: string, password = `demo-${login}`): Promise<void> {
    await this.type('Login', login);
    await this.type('Password', password);
    await this.press('Log in');
  }

  /** Replaces the text in the field with this label, once it takes text: a form that waits for an answer takes none. */
  async type(label: string, value: string): Promise<void> {
    const field = await this.#find(label, 'label, [aria-label]');
    await eventually(async () => {
      if (await field.evaluate((element) => element.matches(':disabled'))) throw new Error(`"${label}" takes no text`);
    }, PATIENCE_MS);
    await field.click({ count: 3 });
    await this.page.keyboard.press('Backspace');
    await field.type(value);
  }

  /** Presses a button, a link or a row. */
  async press(name: string): Promise<void> {
    await (await this.#find(name, 'button, a, summary, [role=row]')).click();
  }

  /** Goes to a page by its address. */
  async go(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  /** The visible text of a part of the page. */
  async text(part = 'body'): Promise<string> {
    return String(await this.page.evaluate(`document.querySelector(${JSON.stringify(part)})?.innerText ?? ''`));
  }

  async shows(text: string, part = 'body'): Promise<void> {
    await eventually(async () => {
      const shown = await this.text(part);
      if (!shown.includes(text)) throw new Error(`${part} does not show "${text}" but "${shown}"`);
    }, PATIENCE_MS);
  }

  async hides(text: string, part = 'body'): Promise<void> {
    await eventually(async () => {
      const shown = await this.text(part);
      if (shown.includes(text)) throw new Error(`${part} shows "${text}"`);
    }, PATIENCE_MS);
  }

  /** The first visible element, or the field of a label, whose name holds a text, preferably at its beginning, and little else. */
  async #find(name: string, selector: string): Promise<ElementHandle> {
    return eventually(async () => {
      const found = await this.page.evaluateHandle(`[...document.querySelectorAll(${JSON.stringify(selector)})]
        .filter((each) => each.checkVisibility({ visibilityProperty: true }))
        .map((each) => ({ element: each.control ?? each, text: each.getAttribute('aria-label') ?? each.innerText }))
        .map(({ element, text }) => ({ element, text: text.replace(/\\s+/g, ' ').trim() }))
        .map(({ element, text }) => ({ element, at: text.indexOf(${JSON.stringify(name)}), rest: text.length }))
        .filter(({ at }) => at >= 0)
        .sort((one, other) => one.at - other.at || one.rest - other.rest)[0]?.element`);
      const element = found.asElement();
      if (element === null) throw new Error(`the page has no "${name}": ${await this.text()}`);
      return element as ElementHandle;
    }, PATIENCE_MS);
  }

  /** What axe finds, as `rule: elements`. */
  async axe(scheme: Scheme): Promise<string[]> {
    await this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await this.page.evaluate(this.#axe);
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    return (await this.page.evaluate(
      `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`,
    )) as string[];
  }
}
