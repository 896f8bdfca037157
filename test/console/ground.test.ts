import { expect } from 'chai';
import { Cable } from '../support/cable.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import type { ConsoleWindow } from './console-browser.ts';
import { useConsole } from './use-console.ts';

describe('the console', () => {
  const inConsole = useConsole(() => stage);

  const stage = useStage();

  const open = (hash = '', options = {}): Promise<ConsoleWindow> => inConsole('', hash, options);

  it('logs in a demo account, names a wrong password, and logs out', async () => {
    const window = await open();
    await window.logIn('admin', 'wrong');
    await window.shows('Domain, login or password is wrong.');
    await window.press('admin');
    await window.shows('Live calls', 'main h1');
    await window.press('Log out');
    await window.shows('Log in to Ringmaster');
  });

  it('opens the page of an address after the login, and the browser goes back', async () => {
    const window = await open('#/calls?filter=nobody');
    await window.logIn('admin');
    await window.shows('Nothing matches the filter.');
    await window.go('#/none');
    await window.shows('This page does not exist.');
    await window.page.goBack();
    await window.shows('Nothing matches the filter.');
  });

  it('offers pages by the rights of the person', async () => {
    const window = await open('#/calls');
    await window.logIn('alice');
    await window.shows('Alice', 'nav');
    expect(await window.text('nav')).to.not.contain('Calls\n');
  });

  it('when the session ends, asks for a login above an open form, which keeps what is typed', async () => {
    const window = await open('#/calls');
    await window.logIn('admin');
    await window.press('New call');
    await window.type('from', '103');
    await window.type('to', '501');
    await window.page.evaluate(`fetch('/rest/v1/iam/sessions/current', { method: 'DELETE' })`);
    await window.shows('Your session has ended');
    expect(await window.axe('light')).to.deep.equal([]);
    await window.type('Password', 'demo-admin');
    await window.press('Log in');
    await window.hides('Your session has ended');
    await window.press('Check only');
    await window.shows('501 → scenario echo', 'dialog');
  });

  it('says that the connection is broken, and follows again when it is back', async () => {
    const cable = await Cable.to(Number(new URL(stage.node.base).port));
    try {
      const window = await open('#/calls', { base: `http://127.0.0.1:${cable.port}` });
      await window.logIn('admin');
      await window.shows('0 of 0');
      cable.cut();
      await window.shows('No connection to the node.');
      cable.mend();
      await window.hides('No connection to the node.');
      const alice = await stage.phone('alice');
      const call = await alice.call('501');
      await call.answered();
      await window.shows('1 of 1');
      await call.hangup();
      await window.shows('0 of 0');
    } finally {
      cable.close();
    }
  });

  it('speaks German, and is used by keys alone', async () => {
    const window = await open();
    await window.logIn('admin');
    const language = await window.page.waitForSelector('nav select');
    await language?.select('de');
    await window.shows('Laufende Anrufe');
    expect(await window.page.evaluate('document.documentElement.lang')).to.equal('de');
    await window.page.evaluate('document.activeElement.blur()');
    await window.page.keyboard.press('?');
    await window.shows('Tasten', 'dialog');
    await window.page.keyboard.press('Escape');
    await window.page.waitForSelector('dialog', { hidden: true });
    await window.page.keyboard.press('/');
    await window.page.keyboard.type('102?');
    await window.shows('Nichts passt zum Filter.');
    await eventually(async () => expect(await window.page.evaluate('location.hash')).to.equal('#/calls?filter=102%3F'));
  });

  it('loads less than 200 KB, all of it from the node', async () => {
    const window = await open();
    const sizes = (await window.page.evaluate(
      `performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => [name, encodedBodySize])`,
    )) as [string, number][];
    expect(sizes.map(([name]) => name).filter((name) => !name.startsWith(`${stage.node.base}/`))).to.deep.equal([]);
    expect(sizes.map(([name]) => name)).to.include(`${stage.node.base}/console/main.js`);
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).to.be.within(10_000, 200_000);
  });
});
