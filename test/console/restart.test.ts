import { expect } from 'chai';
import { useStage } from '../support/stage.ts';
import { useConsole } from './use-console.ts';

const LONG = '<b>7</b>'.repeat(1250);

describe('the console while its node restarts', () => {
  const open = useConsole(() => stage);
  const stage = useStage({ ownNode: true });

  it('keeps what is typed into an open form, and goes on with it', async function () {
    this.timeout(180_000);
    const window = await open('admin', '#/calls');
    await window.press('New call');
    await window.type('from', '103');
    await window.type('to', '501');
    await stage.node.stop();
    await window.press('Check only');
    await window.page.waitForSelector('dialog .problem');
    await stage.node.restart();
    await window.hides('No connection to the node.');
    expect(await window.page.evaluate('document.querySelector("dialog input").value')).to.equal('103');
    await window.press('Check only');
    await window.shows('501 → scenario echo', 'dialog');
    const [first] = await window.page.$$('dialog input');
    await first?.evaluate((input, text) => {
      (input as { value?: string }).value = text;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }, LONG);
    await window.press('Check only');
    await window.shows('must match pattern', 'dialog .mistake');
    expect(await window.page.evaluate('document.querySelector("dialog").scrollWidth <= innerWidth')).to.equal(true);
    expect(await window.axe('light')).to.deep.equal([]);
  });
});
