import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import type { ConsoleWindow } from './console-browser.ts';
import { useConsole } from './use-console.ts';

/** Addresses of all pages, with what they show to an administrator. */
const PAGES = {
  calls: 'Live calls',
  conferences: 'Conferences',
  history: 'History',
  figures: 'Figures',
  registrations: 'Registrations',
  trunks: 'Trunks',
  operations: 'Log of operations',
  nodes: 'Nodes',
  scenarios: 'Scenarios',
  runs: 'Runs',
} as const;

/** Empty, or what does not fit. */
const WIDER = `(document.documentElement.scrollWidth > innerWidth || document.querySelector('main').scrollWidth > innerWidth ? 'wider' : '')`;
/** Empty, or a button or link that is too small for a finger (WCAG 2.5.8). */
const SMALL = `[...document.querySelectorAll('button, a, input, select, summary')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && getComputedStyle(each).display !== 'inline')
  .filter((each) => !each.matches('[type=checkbox]') && Math.min(each.offsetHeight, each.offsetWidth) < 24)
  .map((each) => each.outerHTML.slice(0, 80)).join()`;

const MARKUP = '<img src="x" onerror="document.title=\'run\'">';

describe('the pages of operators in the console', () => {
  const inConsole = useConsole(() => stage);

  const stage = useStage();

  const open = (hash: string, options = {}): Promise<ConsoleWindow> => inConsole('admin', hash, options);

  it('have nothing that axe finds, in both colour schemes and languages, on the smallest screen', async function () {
    this.timeout(180_000);
    const window = await open('#/calls', { width: 320 });
    for (const [path, title] of Object.entries(PAGES)) {
      await window.go(`#/${path}`);
      await window.shows(title, 'main h1');
      for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme), path).to.deep.equal([]);
      expect(await window.page.evaluate(`${WIDER} || ${SMALL}`), path).to.equal('');
    }
    await window.press('☰');
    await window.page.select('nav select', 'de');
    expect(await window.page.evaluate(`getComputedStyle(document.querySelector('main')).visibility`)).to.equal(
      'hidden',
    );
    await window.page.keyboard.press('Tab');
    await window.page.keyboard.press('Escape');
    expect(await window.page.evaluate('document.activeElement.className')).to.contain('menu');
    for (const path of Object.keys(PAGES)) {
      await window.go(`#/${path}`);
      await window.page.waitForSelector('main h1');
      expect(await window.axe('light'), path).to.deep.equal([]);
      expect(await window.page.evaluate(WIDER), path).to.equal('');
    }
  });

  it('show a call with its sides, labels and SIP messages, filter calls as typed, and find the ended call', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const window = await open('#/calls');
    await window.shows('1 of 1');
    await window.type('Filter', 'ALICE');
    await window.shows('Connected');
    await window.type('Filter', 'carol');
    await window.shows('Nothing matches the filter.');
    await window.type('Filter', '102');
    await window.page.keyboard.press('Tab');
    await window.page.focus('[role=grid]');
    await window.page.keyboard.press('Enter');
    await window.shows('alice → 102', 'main h1');
    await window.type('New label', MARKUP);
    await window.press('Add');
    await window.shows(MARKUP, '.chips');
    await window.press('SIP messages');
    await window.shows('180 Ringing');
    await window.press('INVITE 102');
    await window.shows('CSeq: ', 'pre');
    expect(await window.axe('dark')).to.deep.equal([]);
    await outgoing.hangup();
    await window.shows('The call has ended.');
    await window.press('See it in the history');
    await window.shows('Alice (101) → Bob (102)', 'main h1');
    await window.shows('PCMU');
    await window.shows(MARKUP);
    expect(await window.axe('light')).to.deep.equal([]);
    expect(await window.page.title()).to.equal('History · Ringmaster');
  });

  it('check and run an operation from its form, and show the milestones of it', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const window = await open('#/calls');
    await window.press('New call');
    await window.type('from', '101');
    await window.type('to', '1 0 2');
    await window.press('Check only');
    await window.shows('Bad request parameter to', 'dialog');
    await window.type('to', '102');
    await window.press('Check only');
    await window.shows('102 → sipuser bob, phones: 1', 'dialog');
    expect(await window.axe('dark')).to.deep.equal([]);
    await window.press('Run');
    const first = await alice.incoming();
    first.ring();
    // Before the request is answered.
    await window.shows('First party: rings 180 Ringing', 'dialog');
    await first.answer();
    const second = await bob.incoming();
    second.ring();
    await window.shows('The request was answered', 'dialog');
    await second.answer();
    await window.shows('Finished ok', 'dialog');
    expect(await window.axe('light')).to.deep.equal([]);
    await window.press('Close');
    await window.go('#/operations');
    await window.shows('admin', '[role=grid]');
    await window.go('#/calls');
    await window.press('101');
    await window.press('End the call');
    await window.press('Run');
    await window.shows('Done', 'dialog');
    await Promise.all([first.ended(), second.ended()]);
  });

  it('play a recording, with the waveform of both sides', async () => {
    const rest = await stage.rest();
    const rule = await rest.send('POST', '/rest/v1/domain/recordingrules', { body: { direction: 'in' } });
    try {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      outgoing.play(440);
      await incoming.hears(440);
      const { inviteid } = await stage.dialog();
      // Shorter calls have no recording.
      await eventually(async () => expect(incoming.rtp().received).to.be.above(100));
      await outgoing.hangup();
      const window = await open(`#/history/${inviteid}`);
      await window.press('▶ Listen');
      await window.page.waitForSelector('audio');
      expect(await window.page.evaluate('document.querySelectorAll("figure canvas").length')).to.equal(2);
      expect(await window.axe('light')).to.deep.equal([]);
    } finally {
      await rest.send('DELETE', `/rest/v1/domain/recordingrules/${rule.json<{ id: string }>().id}`);
    }
  });

  it('show markup as text', async () => {
    const rest = await stage.rest();
    const name = MARKUP.repeat(10).slice(0, 256);
    const path = '/rest/v1/domain/providers';
    const made = await rest.send('POST', path, { body: { code: 'markup', host: '127.0.0.1', name } });
    expect(made.status, made.text).to.be.within(200, 201);
    try {
      const window = await open('#/trunks');
      await window.shows(MARKUP, '[role=grid]');
      expect(await window.page.evaluate('document.querySelector("main").scrollWidth <= innerWidth')).to.equal(true);
      expect(await window.page.title()).to.equal('Trunks · Ringmaster');
    } finally {
      await rest.send('DELETE', `${path}/${made.json<{ id: string }>().id}`);
    }
  });

  it('keep only the rows in sight of 10,000 calls, and a name of 10,000 characters in its row', async () => {
    const window = await open('#/nodes');
    await window.page.setRequestInterception(true);
    const calls = Array.from({ length: 10_000 }, (_each, index) => ({
      dialogid: `call-${index}`,
      inviteid: `call-${index}`,
      status: 'dialog',
      // Nothing is as long from a real node.
      remoteuri: `"${index === 5 ? MARKUP.repeat(250).replaceAll('"', String.raw`\"`) : ''}" <sip:${index}@demo.local>`,
      localuri: '<sip:500@demo.local>',
      startts: index,
      site: 'main',
      legs: [],
    }));
    window.page.on('request', (request) => {
      const isList = new URL(request.url()).pathname === CALLS;
      void (isList
        ? request.respond({ contentType: 'application/json', body: JSON.stringify(calls) })
        : request.continue());
    });
    await window.go('#/calls');
    await window.shows('10,000 of 10,000');
    await window.page.focus('[role=grid]');
    await window.page.keyboard.press('End');
    await window.shows('call-0');
    await window.shows(MARKUP, '[role=grid]');
    expect(await window.page.title()).to.equal('Calls · Ringmaster');
    expect(await window.page.evaluate('document.querySelectorAll("[role=row]").length')).to.be.within(10, 100);
    await window.type('Filter', '9999');
    await window.shows('1 of 10,000');
  });
});
