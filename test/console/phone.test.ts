import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { Browser, type BrowserPhone } from '../phones/browser.ts';
import type { Phone } from '../phones/phone.ts';
import { requirePeer } from '../phones/peers.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { ConsoleWindow } from './console-browser.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Hz: what the microphone of the browser hears. */
const TONE = 700;

describe('the softphone in the console', function () {
  this.timeout(60_000);
  let browser: Browser | undefined;
  let axe = '';

  before('start Chromium', async function () {
    browser = await Browser.start(requirePeer(this, 'chromium'), { tone: TONE });
    axe = await readFile(AXE, 'utf8');
  });
  afterEach('close the pages', async () => {
    const errors = await browser?.clear();
    // Other files use the node too, and closed pages cannot unregister.
    const phone = await stage.phone('alice', { unregistered: true });
    await phone.register({ contact: '*', expires: 0 });
    expect(errors, 'errors of the pages').to.deep.equal([]);
  });
  after('stop Chromium', () => browser?.stop());

  const stage = useStage();

  /** The console of a user. @param hash as `#/my-calls` */
  async function open(hash = '#/account', login = 'alice'): Promise<{ phone: BrowserPhone; window: ConsoleWindow }> {
    if (browser === undefined) throw new Error('Chromium starts before the first test');
    const phone = await browser.open(stage.node.base, { path: `/${hash}` });
    await phone.page.setViewport({ width: 1280, height: 900 });
    const window = new ConsoleWindow(phone.page, axe);
    await window.logIn(login);
    // The page of the log-in has a link of this name, too.
    await window.page.waitForSelector('nav.pages');
    return { phone, window };
  }

  /** With the phone logged in as alice. */
  async function openPhone(hash?: string): Promise<{ phone: BrowserPhone; window: ConsoleWindow }> {
    const opened = await open(hash);
    await opened.window.press('Phone');
    await opened.window.shows('SIP password', '.drawer');
    await opened.window.type('SIP password', 'demo-alice');
    await opened.phone.page.keyboard.press('Enter');
    await opened.phone.shows('#line', 'Ready: alice@demo.local');
    return opened;
  }

  const loaded = async ({ page }: BrowserPhone): Promise<string[]> =>
    (await page.evaluate(`performance.getEntriesByType('resource').map(({ name }) => name)`)) as string[];

  it('is loaded when it is opened, and asks for the microphone when a call begins', async () => {
    const { phone, window } = await open();
    await window.shows('Account', 'main h1');
    expect((await loaded(phone)).filter((name) => /jssip|phone-/.test(name))).to.deep.equal([]);
    await window.press('Phone');
    await window.shows('SIP password', '.drawer');
    expect((await loaded(phone)).filter((name) => name.endsWith('/phone/jssip.js'))).to.have.length(1);
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    await window.type('SIP password', 'demo-alice');
    await phone.page.keyboard.press('Enter');
    await phone.shows('#line', 'Ready: alice@demo.local');
    expect(await phone.microphonesAsked()).to.equal(0);
    await phone.dial('501');
    await phone.hears(TONE);
    expect(await phone.microphonesAsked()).to.equal(1);
    await phone.press('Hang up');
    await window.shows('501', '#past');
  });

  it('has nothing that axe finds at /phone either', async () => {
    const phone = await browser?.open(stage.node.base);
    if (phone === undefined) throw new Error('Chromium starts before the first test');
    const window = new ConsoleWindow(phone.page, axe);
    await phone.shows('#login', 'Alice 101');
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    await phone.press('Alice 101');
    await phone.shows('#line', 'Ready');
    await phone.dial('501');
    await phone.hears(TONE);
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    await phone.press('Hang up');
    await phone.shows('#past', '501');
  });

  it('keeps a call while pages and the language change, with sound both ways', async () => {
    const { phone, window } = await openPhone();
    const bob = await stage.phone('bob');
    await phone.dial('102');
    const call = await bob.incoming();
    await call.answer();
    call.play(440);
    await Promise.all([call.hears(TONE), phone.hears(440)]);
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    await window.go('#/my-history');
    await window.shows('My history', 'main h1');
    await phone.type('Number or login', '103');
    await window.page.select('nav select', 'de');
    await window.shows('Verbunden', '#calls');
    expect(await window.page.evaluate('document.querySelector("#dial input").value')).to.equal('103');
    await Promise.all([call.hears(TONE), phone.hears(440)]);
    await window.press('Halten');
    await window.shows('Gehalten', '#calls');
    await phone.hearsNoMore(440);
    await window.press('Fortsetzen');
    await Promise.all([call.hears(TONE), phone.hears(440)]);
    expect(await window.axe('light')).to.deep.equal([]);
    await window.press('Telefon schließen');
    await window.shows('Anruf mit 102', '.call-bar');
    await window.press('Auflegen');
    expect((await call.ended()).by).to.equal('there');
    await window.page.waitForSelector('.call-bar', { hidden: true });
  });

  it('rings on every page, in a dialog too, and is answered there', async () => {
    const { phone, window } = await openPhone();
    const bob = await stage.phone('bob');
    await window.press('Close Phone');
    await window.go('#/voicemail');
    await window.shows('Voicemail', 'main h1');
    const declined = await bob.call('101');
    await window.shows('Bob calls you', '.call-bar');
    await eventually(async () => expect(await window.page.title()).to.equal('Bob calls you · Voicemail · Ringmaster'));
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    await window.press('Decline');
    expect((await declined.refused()).status).to.equal(486);
    await eventually(async () => expect(await window.page.title()).to.equal('Voicemail · Ringmaster'));

    await window.page.evaluate('document.activeElement.blur()');
    await window.page.keyboard.press('?');
    await window.shows('open or close: Phone', 'dialog');
    const call = await bob.call('101');
    await window.shows('Bob calls you', 'dialog');
    await window.page.focus('dialog .call-bar .primary');
    await window.page.keyboard.press('Enter');
    await call.answered();
    call.play(440);
    await Promise.all([call.hears(TONE), phone.hears(440)]);
    await window.shows('Call with Bob', 'dialog');
    // The dialog closes, and the drawer behind it stays.
    await window.page.keyboard.press('Escape');
    await window.page.waitForSelector('dialog', { hidden: true });
    await window.page.waitForSelector('.drawer', { visible: true });
    await call.hangup();
    await window.shows('Bob', '.drawer #past');
  });

  it('calls a number of the history by clicks once, also while another call is put on hold', async () => {
    const bob = await stage.phone('bob');
    const { window, phone } = await openPhone('#/my-history');
    await phone.dial('102');
    const first = await bob.incoming();
    await first.answer();
    await first.hangup();
    await window.shows('Bob (102)', '[role=grid]');
    await phone.dial('501');
    await phone.hears(TONE);
    await window.press('Close Phone');
    await window.page.waitForSelector('[role=grid] button[title="Call 102"]');
    await window.page.evaluate(`(async () => {
      for (let clicks = 0; clicks < 40; clicks += 1) {
        document.querySelector('[role=grid] button[title="Call 102"]').click();
        await new Promise((next) => setTimeout(next, 5));
      }
    })()`);
    const call = await bob.incoming();
    await call.answer();
    await call.hears(TONE);
    await window.page.click('[role=grid] button[title="Call 102"]');
    await window.shows('My history', 'main h1');
    expect(await window.text('#calls')).to.match(/^102\s[^]*\b501\b/);
    expect(await window.page.evaluate('document.querySelectorAll("#calls > li").length')).to.equal(2);
    expect(invitesOf(bob)).to.have.length(2);
    await phone.press('Hang up', '102');
    await call.ended();
    await phone.press('Hang up', '501');
    await window.shows('501', '#past');
  });

  it('keeps a clicked number until the phone is logged in', async () => {
    const bob = await stage.phone('bob');
    const call = await bob.call('101');
    await call.hangup();
    const { window, phone } = await open('#/my-history');
    await (await window.page.waitForSelector('[role=grid] button[title="Call 102"]'))?.click();
    await window.shows('Log in to call 102.', '.drawer');
    await window.type('SIP password', 'demo-alice');
    await window.page.keyboard.press('Enter');
    await phone.shows('#line', 'Ready: alice@demo.local');
    await window.page.focus('#dial input');
    await window.page.keyboard.press('Enter');
    const called = await bob.incoming();
    await called.answer();
    await called.hears(TONE);
    await called.hangup();
  });

  it('takes part in a room by a click on its number', async () => {
    const bob = await stage.phone('bob');
    const call = await bob.call('*7012');
    await call.answered();
    call.play(440);
    const { phone, window } = await open('#/conferences', 'admin');
    await window.press('Phone');
    await phone.press('Alice 101');
    await phone.shows('#line', 'Ready: alice@demo.local');
    await window.press('12');
    await (await window.page.waitForSelector('main button[title="Call *7012"]'))?.click();
    await Promise.all([call.hears(TONE), phone.hears(440)]);
    await window.page.waitForSelector('.matrix [aria-label="bob hears alice"]');
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    await phone.press('Hang up');
    await call.hangup();
  });

  it('goes on when the session of the console ends, and ends when its user logs out', async () => {
    const { phone, window } = await openPhone();
    await phone.dial('501');
    await phone.hears(TONE);
    await window.page.evaluate(`fetch('/rest/v1/iam/sessions/current', { method: 'DELETE' })`);
    await window.go('#/my-calls');
    await window.shows('Your session has ended', 'dialog');
    await window.shows('Call with 501', 'dialog');
    await phone.hears(TONE);
    expect(await window.axe('light')).to.deep.equal([]);
    await window.page.type('dialog input[type=password]', 'demo-alice');
    await window.press('Log in');
    await window.page.waitForSelector('dialog', { hidden: true });
    await phone.hears(TONE);
    await window.page.click('nav .person button');
    await window.shows('Log in to Ringmaster');
    await stage.expectNoDialog();
    const bob = await stage.phone('bob');
    const call = await bob.call('101');
    expect((await call.refused()).status).to.equal(480);
  });

  it('warns before a reload that would end a call, and logs in again where its password is kept', async () => {
    const { phone, window } = await open('#/my-calls');
    const bob = await stage.phone('bob');
    await window.press('Phone');
    await phone.tick('Remember the password too');
    await window.type('SIP password', 'demo-alice');
    await window.page.keyboard.press('Enter');
    await phone.shows('#line', 'Ready');
    await phone.dial('102');
    const call = await bob.incoming();
    await call.answer();
    await call.hears(TONE);
    const asked: string[] = [];
    window.page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await window.page.reload();
    expect(asked).to.deep.equal(['beforeunload']);
    expect((await call.ended()).by).to.equal('there');

    await window.page.waitForSelector('header .ready');
    const next = await bob.call('101');
    await window.shows('Bob calls you', '.call-bar');
    await window.press('Decline');
    await next.refused();
    await window.press('Phone');
    await (await window.page.waitForSelector('.drawer .top button:not([hidden])'))?.click();
    await window.shows('SIP password', '.drawer');
    await window.page.reload();
    await window.shows('My calls', 'main h1');
    await window.press('Phone');
    await window.shows('SIP password', '.drawer');
  });

  it('rings in both windows of a user, and stops in one when the other answers', async () => {
    const [first, second] = [await openPhone(), await openPhone()];
    const bob = await stage.phone('bob');
    const call = await bob.call('101');
    await Promise.all([first, second].map(({ window }) => window.shows('Bob', '#calls')));
    await first.phone.press('Answer');
    await call.answered();
    call.play(440);
    await Promise.all([call.hears(TONE), first.phone.hears(440)]);
    await second.window.shows('Answered at another phone.', '#past');
    expect(await second.window.text('#past')).to.not.contain('Missed call');
    expect(await second.phone.microphonesAsked()).to.equal(0);
    await call.hangup();
  });

  it('is used by keys alone, and takes the place of the page on a screen of 320 pixels', async () => {
    const { phone, window } = await openPhone('#/my-calls');
    const focused = async (): Promise<unknown> => window.page.evaluate('document.activeElement.textContent');
    await window.page.keyboard.press('Escape');
    await window.page.waitForSelector('.drawer', { hidden: true });
    await eventually(async () => expect(await focused()).to.match(/^Phone/));
    await window.page.setViewport({ width: 320, height: 740 });
    await window.page.focus('main input[type=search]');
    await window.page.evaluate('document.querySelector("[role=grid]").focus()');
    await window.page.keyboard.press('p');
    await window.page.waitForSelector('.drawer', { visible: true });
    await eventually(async () => expect(await window.page.evaluate('document.activeElement.name')).to.equal('target'));
    await window.page.keyboard.type('501');
    await window.page.keyboard.press('Enter');
    await phone.hears(TONE);
    expect(await window.page.evaluate('document.querySelector("main").inert')).to.equal(true);
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    expect(await window.page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    await window.page.keyboard.press('Escape');
    await window.shows('Call with 501', '.call-bar');
    await eventually(async () =>
      expect(await window.page.evaluate('document.activeElement.getAttribute("role")')).to.equal('grid'),
    );
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    expect(await window.page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    await window.page.keyboard.press('p');
    await window.page.waitForSelector('.drawer', { visible: true });
    // A page that is chosen is shown.
    await window.press('☰');
    await window.press('Account');
    await window.shows('Account', 'main h1');
    await window.page.waitForSelector('.drawer', { hidden: true });
    expect(await window.page.evaluate('document.activeElement.tagName')).to.equal('MAIN');
    await window.press('Hang up');
    await window.hides('Call with 501');
  });
});

/** Call-IDs of the calls that came to a phone. */
function invitesOf(phone: Phone): string[] {
  const invites = phone.trace().filter((line) => /<- .* INVITE /.test(line));
  return [...new Set(invites.map((line) => line.split(' ').at(-1) ?? ''))];
}
