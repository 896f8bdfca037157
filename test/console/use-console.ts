/** A Chromium for the tests of a file, and the console of the shared node in it. */
import { expect } from 'chai';
import { requirePeer } from '../phones/peers.ts';
import type { Stage } from '../support/stage.ts';
import { ConsoleBrowser, type ConsoleWindow } from './console-browser.ts';

/** Opens a window. @param login of a demo account; empty: nobody is logged in */
export type OpenConsole = (login: string, hash?: string, options?: WindowOptions) => Promise<ConsoleWindow>;
/** `base`: another way to the node than its own address. */
type WindowOptions = Parameters<ConsoleBrowser['open']>[2] & { readonly base?: string };

/**
 * Starts Chromium before the tests of a `describe`, which skip without it. A test fails when a page of it had an error.
 * Call it before `useStage`, so that tests without Chromium need no node.
 * @param stage known when the first test runs
 */
export function useConsole(stage: () => Stage): OpenConsole {
  let browser: ConsoleBrowser | undefined;

  before('start Chromium', async function () {
    this.timeout(60_000);
    browser = await ConsoleBrowser.start(requirePeer(this, 'chromium'));
  });
  afterEach('close the windows', async () => expect(await browser?.clear(), 'errors of the pages').to.deep.equal([]));
  after('stop Chromium', () => browser?.stop());

  return async (login, hash = '', options = {}) => {
    if (browser === undefined) throw new Error('Chromium starts before the first test');
    const window = await browser.open(options.base ?? stage().node.base, hash, options);
    if (login !== '') await window.logIn(login);
    return window;
  };
}
