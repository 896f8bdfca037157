import { expect } from 'chai';
import { Browser, type BrowserPhone } from '../phones/browser.ts';
import { requirePeer } from '../phones/peers.ts';
import { Cable } from '../support/cable.ts';
import { useStage } from '../support/stage.ts';

/** Hz: what the microphones of all browsers here hear. */
const TONE = 700;

describe('the phone in a browser', () => {
  let browser: Browser | undefined;

  before('start Chromium', async function () {
    this.timeout(60_000);
    browser = await Browser.start(requirePeer(this, 'chromium'), { tone: TONE });
  });
  afterEach('close the pages', async () => {
    const errors = await browser?.clear();
    // Other files use the node too, and closed pages cannot unregister.
    for (const login of ['alice', 'carol'] as const) {
      const phone = await stage.phone(login, { unregistered: true });
      await phone.register({ contact: '*', expires: 0 });
    }
    expect(errors, 'errors of the pages').to.deep.equal([]);
  });
  after('stop Chromium', () => browser?.stop());

  const stage = useStage();

  async function open(login?: string, { base = stage.node.base, microphone = true } = {}): Promise<BrowserPhone> {
    if (browser === undefined) throw new Error('Chromium starts before the first test');
    const page = await browser.open(base, { microphone });
    if (login !== undefined) await page.register(login);
    return page;
  }

  it('logs in a demo account by a click, names a wrong password, and keeps only what is ticked', async () => {
    const page = await open();
    await page.logIn('alice', 'wrong');
    await page.shows('#problem', 'Login, domain or password is wrong.');
    await page.press('Alice 101');
    await page.shows('#line', 'Ready: alice@demo.local');
    expect(await page.kept()).to.deep.equal({});
    await page.press('Log out');
    await page.tick('Remember login and domain on this device');
    await page.register('alice');
    expect(await page.kept()).to.deep.equal({ 'ringmaster-phone': '{"login":"alice","domain":"demo.local"}' });
  });

  it('without a microphone, or to an unknown number, it says what to do', async () => {
    const deaf = await open('alice', { microphone: false });
    await deaf.dial('501');
    await deaf.shows('#problem', 'Allow it at the icon left of the address');
    const page = await open('alice');
    await page.dial('999');
    await page.shows('#past', 'Nobody has this number.');
  });

  it('on a computer without a network, it says so instead of calling for ever', async () => {
    const page = await open('alice');
    await page.hideNetworks();
    await page.dial('501');
    await page.shows('#past', 'The browser finds no network');
  });

  it('shows a text message', async () => {
    const page = await open('alice');
    const bob = await stage.phone('bob');
    await bob.message('101', 'Lunch at noon?');
    await page.shows('#texts', 'Lunch at noon?');
    await page.shows('#texts', 'Bob');
  });

  it('registers again when the server is back', async () => {
    const cable = await Cable.to(Number(new URL(stage.node.base).port));
    try {
      const page = await open('alice', { base: `http://127.0.0.1:${cable.port}` });
      cable.cut();
      await page.shows('#line', 'No connection to the server. Trying again');
      await page.dial('501');
      await page.shows('#problem', 'No call can be made now.');
      cable.mend();
      await page.shows('#line', 'Ready', 30_000);
    } finally {
      cable.close();
    }
  });

  it('talks on while the server is out of reach; when it is back, either side ends the call', async function () {
    this.timeout(60_000);
    const cable = await Cable.to(Number(new URL(stage.node.base).port));
    try {
      const page = await open('alice', { base: `http://127.0.0.1:${cable.port}` });
      const bob = await stage.phone('bob');
      for (const side of ['page', 'phone'] as const) {
        const call = await bob.call('101');
        await page.press('Answer');
        await call.answered();
        await call.hears(TONE);
        cable.cut();
        await page.shows('#line', 'No connection to the server. Trying again');
        call.play(440);
        await Promise.all([call.hears(TONE), page.hears(440)]);
        cable.mend();
        await page.shows('#line', 'Ready', 30_000);
        if (side === 'page') await page.press('Hang up');
        else await call.hangup();
        await call.ended();
        await page.shows('#live', 'No calls.');
      }
    } finally {
      cable.close();
    }
  });

  it('speaks German, and keeps what is typed and open when the language changes', async () => {
    const page = await open('alice');
    await page.dial('501');
    await page.hears(TONE);
    await page.press('Keypad');
    await page.type('Number or login', '103');
    await page.page.select('select', 'de');
    await page.shows('#calls', 'Verbunden');
    await page.shows('#line', 'Bereit: alice@demo.local');
    await page.shows('#dialer', 'Nummer oder Anmeldename');
    expect(await page.page.evaluate('document.querySelector("#dial input").value')).to.equal('103');
    expect(await page.page.evaluate('document.documentElement.lang')).to.equal('de');
    await page.press('Raute', '501');
    await page.hears(TONE);
    await page.press('Auflegen');
    await page.shows('#past', 'Ausgehender Anruf');
  });

  it('calls a number once, however often Call is pressed while another call is put on hold', async () => {
    const page = await open('alice');
    const bob = await stage.phone('bob');
    await page.dial('501');
    await page.hears(TONE);
    await page.type('Number or login', '102');
    await page.page.evaluate(`(async () => {
      for (let presses = 0; presses < 40; presses += 1) {
        buttonOf('Call', '').click();
        await new Promise((next) => setTimeout(next, 5));
      }
    })()`);
    const call = await bob.incoming();
    await call.answer();
    await call.hears(TONE);
    expect(await page.page.evaluate('document.querySelectorAll("#calls > li").length')).to.equal(2);
    await page.press('Hang up', '102');
    await call.ended();
    await page.press('Hang up', '501');
  });

  it('hears itself at 501', async () => {
    const page = await open('alice');
    await page.dial('501');
    await page.hears(TONE);
    await page.press('Mute');
    await page.hearsNoMore(TONE);
    await page.press('Unmute');
    await page.hears(TONE);
    await page.press('Hang up');
    await page.shows('#past', '501');
  });

  it('calls a phone with G.711 over UDP; hold, digits and sound reach it', async () => {
    const page = await open('alice');
    const bob = await stage.phone('bob');
    await page.dial('102');
    const call = await bob.incoming();
    call.ring();
    await page.shows('#calls', 'Ringing');
    expect(call.callerId).to.equal('101');
    await call.answer();
    await page.shows('#calls', 'Connected');
    call.play(440);
    await Promise.all([call.hears(TONE), page.hears(440)]);
    await page.press('Keypad');
    await page.press('4', '102');
    await page.press('hash', '102');
    await call.receivesDtmf('4#');
    await page.press('Hold');
    await page.shows('#calls', 'On hold');
    await page.hearsNoMore(440);
    await page.press('Resume');
    await Promise.all([call.hears(TONE), page.hears(440)]);
    // Resume is pressed before the server has answered the hold.
    await page.pressAtOnce('Hold', 'Resume');
    await page.shows('#calls', 'Connected');
    await Promise.all([call.hears(TONE), page.hears(440)]);
    await call.hangup();
    await page.shows('#past', '102');
  });

  it('is called by a phone, shows who calls, declines and answers', async () => {
    const page = await open('alice');
    const bob = await stage.phone('bob');
    const refused = await bob.call('101');
    await page.shows('#calls', 'Bob');
    await page.press('Decline');
    expect((await refused.refused()).status).to.equal(486);
    const call = await bob.call('101');
    await page.press('Answer');
    await call.answered();
    call.play(440);
    await Promise.all([call.hears(TONE), page.hears(440)]);
    await page.press('Hang up');
    expect((await call.ended()).by).to.equal('there');
  });

  it('chooses in the menu at 500 by a key', async () => {
    const page = await open('alice');
    await page.dial('500');
    await page.shows('#calls', 'Connected');
    await page.press('Keypad');
    await page.press('1', '500');
    await page.press('1', '500');
    await page.shows('#past', '500', 20_000);
  });

  it('transfers a call blind, and another with consultation', async () => {
    const page = await open('alice');
    const [bob, carol] = await stage.phones('bob', 'carol');
    const blind = await bob.call('101');
    await page.press('Answer');
    await blind.answered();
    await page.press('Transfer');
    await page.type('Transfer to', '103');
    await page.press('Transfer now');
    const arriving = await carol.incoming();
    await arriving.answer();
    await page.shows('#past', 'Transferred to 103');
    blind.play(440);
    await arriving.hears(440);
    await blind.hangup();

    const first = await bob.call('101');
    await page.press('Answer');
    await first.answered();
    await page.dial('103');
    const asked = await carol.incoming();
    await page.shows('#calls', 'On hold');
    await asked.answer();
    // Bob's card moves down when 103 has answered.
    await page.shows('#calls', 'Connected');
    await page.press('Transfer', 'Bob');
    await page.press('Connect with 103');
    await page.shows('#live', 'No calls.');
    first.play(440);
    await asked.hears(440);
    await first.hangup();
  });

  it('meets another browser and a phone in a room', async () => {
    const [alice, carol] = [await open('alice'), await open('carol')];
    const bob = await stage.phone('bob');
    await alice.dial('*7012');
    await carol.dial('*7012');
    const call = await bob.call('*7012');
    await call.answered();
    call.play(440);
    await Promise.all([alice.hears(440), carol.hears(440), call.hears(TONE)]);
    await alice.hears(TONE);
    for (const page of [alice, carol]) await page.press('Hang up');
    await call.hangup();
  });
});
