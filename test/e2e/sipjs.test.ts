import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from '../phones/browser.ts';
import { requirePeer } from '../phones/peers.ts';
import { SipJsSite, type SipJsAccount, type SipJsPhone } from '../phones/sipjs.ts';
import { Cable } from '../support/cable.ts';
import { makeCertificate } from '../support/certificate.ts';
import { freeTcpPort } from '../support/ports.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Hz: what the microphones of all pages here hear. */
const TONE = 700;

const certificate = REAL_SIP ? undefined : makeCertificate();

(certificate === undefined ? describe.skip : describe)('SIP.js on a page of another site', () => {
  const folder = temporaryFolder();
  const ports = { http: 0, https: 0, ws: 0 };
  let browser: Browser;
  let site: SipJsSite;
  /** Errors that SIP.js logs in the present test. */
  let tolerated = /^$/;

  before('start Chromium and the site', async function () {
    this.timeout(60_000);
    const program = requirePeer(this, 'chromium');
    site = await SipJsSite.start();
    browser = await Browser.start(program, { tone: TONE, anyCertificate: true });
  });
  afterEach('close the pages', async () => {
    const errors = (await browser.clear()).filter((error) => !tolerated.test(error));
    tolerated = /^$/;
    expect(errors, 'errors of the pages').to.deep.equal([]);
    // Closed pages cannot unregister.
    const phone = await stage.phone('alice', { unregistered: true });
    await phone.register({ contact: '*', expires: 0 });
  });
  const stage = useStage({
    env: async () => {
      const file = (name: 'cert' | 'key'): string => {
        writeFileSync(join(folder, name), certificate?.[name] ?? '');
        return join(folder, name);
      };
      ports.https = await freeTcpPort();
      ports.ws = await freeTcpPort();
      return {
        RINGMASTER_TLS_CERT: file('cert'),
        RINGMASTER_TLS_KEY: file('key'),
        RINGMASTER_HTTPS_PORT: String(ports.https),
        RINGMASTER_SIPS_PORT: String(await freeTcpPort()),
        RINGMASTER_WS_PORT: String(ports.ws),
        RINGMASTER_WS_ORIGINS: site.origin,
      };
    },
  });
  after('stop Chromium and the site', async () => {
    site.close();
    await browser.stop();
  });

  const ways: Readonly<Record<string, () => string>> = {
    'secure WebSocket': () => `wss://127.0.0.1:${ports.ws}`,
    'secure WebSocket at /sip': () => `wss://127.0.0.1:${ports.https}/sip`,
    'WebSocket at /sip': () => `${stage.node.base.replace('http:', 'ws:')}/sip`,
  };

  const open = (server: string, options: Partial<SipJsAccount> = {}): Promise<SipJsPhone> =>
    site.open(browser, { server, login: 'alice', ...options });

  for (const [way, server] of Object.entries(ways)) {
    it(`over ${way} calls a phone and is called by it, with sound, hold, digits and texts both ways`, async () => {
      const page = await open(server());
      const bob = await stage.phone('bob');
      await page.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await incoming.answer();
      await page.is('Established');
      incoming.play(440);
      await Promise.all([incoming.hears(TONE), page.hears(440)]);
      await page.do('digit', '4');
      await page.do('digit', '#');
      await incoming.receivesDtmf('4#', { withinMs: 6000 });
      await page.do('hold');
      await page.shows(({ calls }) => calls.at(-1)?.held === true);
      await incoming.hearsNot(TONE, { forMs: 300 });
      await page.do('unhold');
      await page.shows(({ calls }) => calls.at(-1)?.held === false);
      await Promise.all([incoming.hears(TONE), page.hears(440)]);
      await page.do('hangup');
      expect((await incoming.ended()).by).to.equal('there');

      const outgoing = await bob.call('101');
      await page.answer();
      await outgoing.answered();
      outgoing.play(440);
      await Promise.all([outgoing.hears(TONE), page.hears(440)]);
      await outgoing.hold();
      await outgoing.unhold();
      await Promise.all([outgoing.hears(TONE), page.hears(440)]);
      await outgoing.hangup();
      await page.is('Terminated');

      const refused = await bob.call('101');
      await page.is('Initial');
      await page.do('decline');
      expect((await refused.refused()).status).to.equal(480);

      await bob.message('101', 'Lunch at noon?');
      await page.shows(({ texts }) => texts.includes('Lunch at noon?'));
      await page.do('text', 'sip:102@demo.local', 'At one.');
      expect((await bob.requests.next(5000)).body).to.equal('At one.');
    });
  }

  it('sends digits by INFO, when it is set so', async () => {
    const page = await open(ways['secure WebSocket']?.() ?? '', { digits: 'info' });
    const bob = await stage.phone('bob');
    await page.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await page.is('Established');
    await incoming.hears(TONE);
    await page.do('digit', '7');
    await incoming.receivesDtmf('7', { withinMs: 6000 });
    await page.do('hangup');
    await incoming.ended();
  });

  it('transfers a call blind, and another with consultation', async () => {
    const page = await open(ways['secure WebSocket']?.() ?? '');
    const [bob, carol] = await stage.phones('bob', 'carol');
    const blind = await bob.call('101');
    await page.answer();
    await blind.answered();
    await page.do('transfer', 'sip:103@demo.local');
    const arriving = await carol.incoming();
    await arriving.answer();
    await page.is('Terminated');
    blind.play(440);
    await arriving.hears(440);
    await blind.hangup();
    await arriving.ended();

    const first = await bob.call('101');
    await page.answer();
    await first.answered();
    await page.do('hold');
    await page.call('103');
    const asked = await carol.incoming();
    await asked.answer();
    await page.is('Established');
    asked.play(620);
    await page.hears(620);
    await page.do('join');
    await page.shows(({ calls }) => calls.every(({ state }) => state === 'Terminated'));
    first.play(440);
    await Promise.all([asked.hears(440), first.hears(620)]);
    await first.hangup();
    await asked.ended();
  });

  // SIP.js ends its calls with the connection.
  it('registers again after its WebSocket was cut in a call, and calls and is called as before', async function () {
    this.timeout(60_000);
    tolerated = /Not connected|transport error|WebSocket|Failed to send|rejected with status code 503/i;
    const cable = await Cable.to(ports.ws);
    try {
      const page = await open(`wss://127.0.0.1:${cable.port}`);
      const bob = await stage.phone('bob');
      const lost = await bob.call('101');
      await page.answer();
      await lost.answered();
      await lost.hears(TONE);
      cable.cut();
      await page.shows(({ registered }) => !registered);
      const missed = await (await stage.phone('carol')).call('101');
      expect((await missed.refused()).status).to.equal(480);
      await lost.hangup();
      cable.mend();
      await page.shows(({ registered }) => registered, 30_000);
      const outgoing = await bob.call('101');
      await page.answer();
      await outgoing.answered();
      outgoing.play(440);
      await Promise.all([outgoing.hears(TONE), page.hears(440)]);
      await outgoing.hangup();
      await page.is('Terminated');
      await page.call('102');
      const incoming = await bob.incoming();
      await incoming.answer();
      await page.is('Established');
      await page.do('hangup');
      await incoming.ended();
    } finally {
      cable.close();
    }
  });
});
