import { expect } from 'chai';
import { useStage } from '../support/stage.ts';
import type { ConsoleWindow } from './console-browser.ts';
import { useConsole } from './use-console.ts';

const SCRIPTS = '/rest/v1/domain/ivrscripts';

const door = (comment: string): string => `# ${comment}
start: closed

blocks:
  closed:
    run: { scenario: refusal }
    next: end
`;
const REFUSAL = 'start: refuse\n\nblocks:\n  refuse:\n    reject: 480\n    next: end\n';

describe('runs in the console', () => {
  const inConsole = useConsole(() => stage);
  const made: string[] = [];

  afterEach('remove the scripts', async () => {
    const admin = await stage.rest();
    for (const id of made.splice(0)) await admin.send('DELETE', `${SCRIPTS}/${id}`);
  });
  const stage = useStage();

  const open = (hash: string): Promise<ConsoleWindow> => inConsole('admin', hash);

  async function script(code: string, source: string): Promise<string> {
    const body = { code, name: code, scriptdata: { format: 'yaml', source } };
    const { id } = (await (await stage.rest()).send('POST', SCRIPTS, { body })).json<{ id: string }>();
    made.push(id);
    return id;
  }

  it('are lit in the graph while they are live, and replayed and made a test when they are over', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('500');
    await call.answered();
    const window = await open('#/scenarios/ivr/file.menu');
    await window.press('Runs');
    await window.shows('Running', '[role=grid]');
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme), scheme).to.deep.equal([]);
    await window.type('Number of the caller', '999');
    await window.shows('No run fits.', '[role=grid]');
    await window.type('Number of the caller', '10');
    await window.shows('Running', '[role=grid]');
    await window.go('#/runs?scenario=menu&number=101&days=7');
    await window.shows('Running', '[role=grid]');
    await window.press('Running');
    await window.shows('menu: 101 → 500', 'main h1');
    await window.page.waitForSelector('.graph [data-node="block-choice"].current');
    await window.page.waitForSelector('.graph [data-node="block-pick_up"].passed');
    await call.sendDtmf('2');
    await window.page.waitForSelector('.graph [data-node="block-second"].passed');
    await call.hangup();
    await window.shows('Call ended', '.bar');
    await window.page.reload();
    await window.shows('1 of ', '.replay');
    await window.page.keyboard.press('ArrowRight');
    await window.shows('2 of ', '.replay');
    await window.page.waitForSelector('.graph [data-node="block-choice"].current');
    await window.press('Make a test of it');
    await window.shows('It was tried, and passes.', '.run');
    await window.shows('presses: "2"', '.made-test');
    await window.press('Copy');
    await window.shows('The test is copied.');
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme), scheme).to.deep.equal([]);
  });

  it('lead to the runs that they started, say when their version is not served, and keep a test with the script', async () => {
    await script('refusal', REFUSAL);
    const id = await script('door', door('first'));
    const admin = await stage.rest();
    const kept = '# mine\ntests: [{ name: kept before }]\n';
    await admin.send('PATCH', `${SCRIPTS}/${id}`, { body: { ext: { tests: kept } } });
    const alice = await stage.phone('alice');
    const call = await alice.call('*55door');
    await call.ended();
    const window = await open('#/runs?scenario=door&status=completed&days=30');
    await window.press('door 101');
    await window.press('Make a test of it');
    await window.press('Save with the tests of the script');
    await window.shows('saved with the tests');
    const { ext } = (await admin.get(`${SCRIPTS}/${id}`)).json<{ ext: { tests: string } }>();
    expect(ext.tests).to.match(/^# mine\n[^]*kept before[^]*name: as in run/);
    await window.press('door');
    await window.press('Tests');
    await window.press('Run the tests');
    await window.shows('All 2 passed', '.tab-panel');
    // Over the first view of the scenario.
    await window.page.goBack();
    await window.page.goBack();
    await admin.send('PATCH', `${SCRIPTS}/${id}`, {
      body: { scriptdata: { format: 'yaml', source: door('second') } },
    });
    await window.page.reload();
    await window.shows('This run had version 1. Version 2 serves new calls.');
    await window.press('refusal');
    await window.shows('refusal: 101', 'main h1');
    await window.page.waitForSelector('.graph [data-node="block-refuse"].current');
  });
});
