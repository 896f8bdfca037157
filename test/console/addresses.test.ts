import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import type { ConsoleWindow } from './console-browser.ts';
import { useConsole } from './use-console.ts';

describe('addresses in the console', () => {
  const inConsole = useConsole(() => stage);
  const stage = useStage();

  const open = (hash: string): Promise<ConsoleWindow> => inConsole('admin', hash);

  const at = async (window: ConsoleWindow, hash: string): Promise<void> => {
    await eventually(async () => expect(await window.page.evaluate('location.hash')).to.equal(hash));
  };

  const closed = (window: ConsoleWindow): Promise<unknown> => window.page.waitForSelector('dialog', { hidden: true });

  it('open the form of a call, and the browser goes back to the page below it', async () => {
    const window = await open('#/calls?filter=10');
    await window.press('More');
    await window.press('invite');
    await window.type('from', '101');
    await at(window, '#/calls?filter=10&open=invite');
    await window.page.goBack();
    await closed(window);
    await at(window, '#/calls?filter=10');
    await window.page.goForward();
    await window.shows('invite', 'dialog h2');
    await window.press('Close');
    await closed(window);
    await window.go('#/nodes?open=drain');
    await window.shows('Drain', 'dialog h2');
    await window.page.keyboard.press('Escape');
    await closed(window);
    await at(window, '#/nodes');
    await window.page.goBack();
    await at(window, '#/calls?filter=10');
  });

  it('open an operation on a live call, and give the focus back to its button', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('501');
    await call.answered();
    const { dialogid } = await stage.dialog();
    const window = await open(`#/calls/${dialogid}?open=bye`);
    await window.shows('bye', 'dialog h2');
    await window.page.keyboard.press('Escape');
    await closed(window);
    await window.press('End the call');
    await at(window, `#/calls/${dialogid}?open=bye`);
    await window.page.goBack();
    await closed(window);
    const focused = () => window.page.evaluate('document.activeElement.innerText');
    await eventually(async () => expect(await focused()).to.equal('End the call'));
    await call.hangup();
  });

  it('open a view of a scenario, and a click on one counts before the graph is drawn', async () => {
    const window = await open('#/scenarios');
    await window.shows('menu', '[role=grid]');
    await window.page.setRequestInterception(true);
    const held: (() => void)[] = [];
    let isHeld = true;
    window.page.on('request', (request) => {
      const go = (): void => void request.continue();
      if (isHeld && request.method() === 'POST' && request.url().includes('draw')) held.push(go);
      else go();
    });
    await window.press('menu');
    const tab = await window.page.waitForSelector('[role=tab]:nth-of-type(3)');
    const before = await tab?.boundingBox();
    await tab?.click();
    await at(window, '#/scenarios/ivr/file.menu?view=tests');
    await window.shows('Run the tests', '.tab-panel');
    isHeld = false;
    for (const go of held) go();
    await window.page.waitForSelector('.graph .node');
    expect(await tab?.boundingBox(), 'the views stay where they are').to.deep.equal(before);
    await window.page.goBack();
    await window.page.waitForSelector('[role=tab]:first-of-type[aria-selected=true]');
    await window.page.goBack();
    await window.shows('Scenarios', 'main h1');
  });

  it('lead back to the row that was opened, with the focus', async () => {
    const window = await open('#/scenarios');
    await window.shows('menu', '[role=grid]');
    await window.page.focus('[role=grid]');
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter'] as const) await window.page.keyboard.press(key);
    await window.page.waitForSelector('.graph .node');
    await window.page.goBack();
    await window.shows('menu', '[role=grid]');
    const row = `document.activeElement.matches('[role=grid]') && document.activeElement.getAttribute('aria-activedescendant')`;
    await eventually(async () => expect(String(await window.page.evaluate(row))).to.match(/-2$/));
  });

  it('open a step of a run', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('500');
    await call.answered();
    await call.sendDtmf('1');
    await call.ended();
    const filter = JSON.stringify({ scenario: 'menu' });
    const [run] = await eventually(async () => {
      const admin = await stage.rest();
      const runs = (await admin.get('/rest/v1/api/runs', { filter, limit: 1 })).json<
        { id: string; status: string }[]
      >();
      expect(runs[0]?.status).to.equal('completed');
      return runs;
    });
    const window = await open(`#/runs/${run?.id}?step=3`);
    await window.shows('3 of 5', '.replay');
    await window.page.waitForSelector('.graph [data-node="block-first"].current');
    await window.page.keyboard.press('ArrowRight');
    await window.shows('4 of 5', '.replay');
    await at(window, `#/runs/${run?.id}?step=4`);
    await window.page.reload();
    await window.shows('4 of 5', '.replay');
  });

  it('stay, with what is typed, when the language changes', async () => {
    const window = await open('#/scenarios/ivr/file.menu?view=try');
    await window.type('What the caller does', 'presses 1');
    const content = await window.page.waitForSelector('>>> .cm-content');
    await content?.focus();
    await window.page.keyboard.type('# typed');
    await window.page.select('nav select', 'de');
    await window.shows('Szenarien', 'nav');
    expect(await window.page.evaluate('document.querySelector(".try input").value')).to.equal('presses 1');
    await content?.focus();
    await window.page.keyboard.down('Control');
    await window.page.keyboard.press('z');
    await window.page.keyboard.up('Control');
    await eventually(async () => {
      expect(await content?.evaluate((element) => element.textContent)).to.not.include('# typed');
    });
    await window.go('#/calls');
    await window.shows('Laufende Anrufe', 'main h1');
    await window.page.select('nav select', 'en');
    await window.shows('From', '[role=grid]');
  });
});
