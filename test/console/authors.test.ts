import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import type { ConsoleWindow } from './console-browser.ts';
import { useConsole } from './use-console.ts';

const SCRIPTS = '/rest/v1/domain/ivrscripts';
const MARKUP = '<img src=x onerror=alert(1)>';

const source = (status: number): string =>
  `start: refuse\n\nblocks:\n  refuse:\n    reject: ${status}\n    next: end\n`;

describe('scenarios in the console', () => {
  const inConsole = useConsole(() => stage);
  const made: string[] = [];

  afterEach('remove the scripts', async () => {
    const admin = await stage.rest();
    for (const id of made.splice(0)) await admin.send('DELETE', `${SCRIPTS}/${id}`);
  });
  const stage = useStage();

  const open = (hash: string): Promise<ConsoleWindow> => inConsole('admin', hash);

  async function script(code: string, text: string, name = code): Promise<string> {
    const admin = await stage.rest();
    const answer = await admin.send('POST', SCRIPTS, {
      body: { code, name, scriptdata: { format: 'yaml', source: text } },
    });
    const { id } = answer.json<{ id: string }>();
    made.push(id);
    return id;
  }

  it('lists and finds them, those of files too', async () => {
    await script('closed', source(480), MARKUP);
    const window = await open('#/scenarios');
    await window.shows('Greeting and menu', '[role=grid]');
    await window.shows(MARKUP, '[role=grid]');
    await window.type('Filter', 'choice-1.wav');
    await window.hides('closed', '[role=grid]');
    await window.press('menu');
    await window.shows('Greeting and menu', 'main h1');
    await window.page.waitForSelector('.graph .node');
    expect(await window.text('.graph')).to.contain('goodbye');
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme), scheme).to.deep.equal([]);
  });

  it('completes by the schema, shows the mistakes of the checker in place, and mends them', async () => {
    const id = await script('closed', source(480));
    const window = await open(`#/scenarios/ivr/${id}`);
    const editor = await editorOf(window);
    await editor.end();
    await editor.type('  more:\n  plax: hello.wav');
    await window.shows('no component "plax"', '.checked');
    await window.page.waitForSelector('.graph .node.wrong');
    await editor.pressIn('.cm-lintRange-error', 'F8');
    await (await window.page.waitForSelector('>>> .cm-diagnosticAction'))?.click();
    await editor.holds('play: hello.wav');
    await editor.end();
    await editor.type('\nne');
    await editor.shows('.cm-tooltip-autocomplete li');
    await (await window.page.$('>>> .cm-tooltip-autocomplete li'))?.click();
    await editor.end();
    await editor.type('end');
    await editor.holds('hello.wav    next: end');
    await window.shows('more', '.graph');
  });

  it('simulates a caller and runs tests, and the graph shows the way of the run', async () => {
    const window = await open('#/scenarios/ivr/file.menu');
    await window.press('Try');
    await window.press('+ presses 1');
    await window.press('Simulate');
    await window.shows('1 of 5', '.replay');
    await window.press('Next step');
    await window.shows('pressed 1', '.step-detail');
    await window.page.waitForSelector('.graph [data-node="block-choice"].current');
    await window.press('Last step');
    await window.page.waitForSelector('.graph [data-node="block-first"].passed');
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme), scheme).to.deep.equal([]);
    await window.type('What the caller does', 'dances');
    await window.shows('“dances” is nothing that a caller does', '.try');
    await window.press('Tests');
    await window.press('Run the tests');
    await window.shows('All 1 passed', '.tab-panel');
    await window.press('passed the caller listens to the end');
    await window.page.waitForSelector('.graph [data-node="block-hang_up"].current');
  });

  it('saves a draft, promotes it, and keeps unsaved text when the page is closed', async () => {
    const id = await script('closed', source(480));
    const window = await open(`#/scenarios/ivr/${id}`);
    const editor = await editorOf(window);
    await editor.replace(source(486));
    await window.shows('Not saved', 'main');
    await window.press('Save as draft');
    await window.shows('Version 2 is saved as a draft.');
    await window.press('Promote');
    await window.shows('Version 2 serves the next call.');
    const long = `# ${MARKUP.repeat(400)}\n${source(600)}`;
    await editor.replace(long);
    await window.shows('Not saved', 'main');
    await window.page.reload();
    await window.shows('you typed earlier', 'main');
    await (await editorOf(window)).holds(MARKUP);
    await window.press('Discard');
    await (await editorOf(window)).holds('reject: 486');
  });

  it('shows both texts when two authors changed one, and loses neither', async () => {
    const id = await script('closed', source(480));
    const window = await open(`#/scenarios/ivr/${id}`);
    const editor = await editorOf(window);
    await editor.replace(source(486));
    const admin = await stage.rest();
    const theirs = { format: 'yaml', source: source(603) };
    await admin.send('PATCH', `${SCRIPTS}/${id}`, { body: { scriptdata: theirs } });
    await editor.save();
    await window.shows('Theirs, version 2', 'dialog');
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme), scheme).to.deep.equal([]);
    await window.press('Take theirs');
    await editor.holds('reject: 603');
    await editor.undo();
    await editor.holds('reject: 486');
    await editor.save();
    await window.shows('Version 3 is saved.');
    await window.press('Versions');
    await window.shows('100 % of new calls', '.versions li:first-child');
    await window.press('Roll back');
    await window.shows('100 % of new calls', '.versions li:nth-child(2)');
    await window.press('Begin the trial');
    await window.shows('10 % of new calls', '.versions');
    await window.press('Compare');
    await window.page.waitForSelector('dialog .difference');
    expect(await window.axe('light')).to.deep.equal([]);
  });
});

/** The text editor of a window, in its shadow root. */
async function editorOf({ page }: ConsoleWindow) {
  const content = await page.waitForSelector('>>> .cm-content');
  if (content === null) throw new Error('there is no editor');
  const press = async (key: string, modifier?: 'Control'): Promise<void> => {
    if (modifier !== undefined) await page.keyboard.down(modifier);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- names of keys
    await page.keyboard.press(key as 'End');
    if (modifier !== undefined) await page.keyboard.up(modifier);
  };
  return {
    async end() {
      await content.focus();
      await press('End', 'Control');
    },
    async save() {
      await content.focus();
      await press('s', 'Control');
    },
    async undo() {
      await content.focus();
      await press('z', 'Control');
    },
    type: (text: string) => page.keyboard.type(text),
    async replace(text: string) {
      await content.focus();
      await press('a', 'Control');
      // Chromium gives text that replaces a selection a style, which the policy of the page forbids.
      await press('Delete');
      await page.keyboard.sendCharacter(text);
    },
    /** Puts the focus into the editor, waits for an element of it, and presses a key. */
    async pressIn(selector: string, key: string) {
      await page.waitForSelector(`>>> ${selector}`);
      await content.focus();
      await press(key);
    },
    async shows(selector: string) {
      await eventually(async () => {
        if ((await page.$(`>>> ${selector}`)) === null)
          throw new Error(`no ${selector} beside "${await page.$eval('>>> .cm-content', (each) => each.textContent)}"`);
      }, 20_000);
    },
    async holds(text: string) {
      await eventually(async () => {
        const shown = await page.$eval('>>> .cm-content', (element) => element.textContent);
        if (shown?.includes(text) !== true) throw new Error(`the editor does not have "${text}" but "${shown}"`);
      }, 20_000);
    },
  };
}
