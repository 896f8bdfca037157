import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ElementHandle } from 'puppeteer-core';
import { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { leavesMessage } from '../support/voice-message.ts';
import { useConsole } from './use-console.ts';

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MESSAGES = '/rest/v1/user/sip/voicemessages';

/** Leaves a second of sound in the mailbox of alice. */
const LEAVE = `id: mine_leave${leavesMessage('alice')}`;

/** Addresses of the pages of users, with their headings. */
const PAGES = {
  'my-calls': 'My calls',
  'my-history': 'My history',
  'my-rooms': 'My rooms',
  voicemail: 'Voicemail',
  account: 'Account',
} as const;

describe('the pages of users in the console', () => {
  const open = useConsole(() => stage);

  const stage = useStage();

  it('are what a user without other rights sees, and have nothing that axe finds', async function () {
    this.timeout(120_000);
    const window = await open('alice', '', { width: 390 });
    await window.shows('My calls', 'main h1');
    for (const [path, title] of Object.entries(PAGES)) {
      await window.go(`#/${path}`);
      await window.shows(title, 'main h1');
      for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme), path).to.deep.equal([]);
    }
    expect(await window.page.evaluate('document.documentElement.scrollWidth')).to.equal(390);
    const paths = `[...document.querySelectorAll('nav.pages li a')].map((each) => each.getAttribute('href'))`;
    expect(await window.page.evaluate(paths)).to.deep.equal(Object.keys(PAGES).map((path) => `#/${path}`));
  });

  it('show own calls alone, end one of them with its milestones, and find it in the own history', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const other = await stage.connect(carol, dave, '104');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const window = await open('alice', '#/my-calls');
    await window.shows('1 of 1');
    await window.press('alice');
    await window.shows('alice → 102', 'main h1');
    expect(await window.axe('dark')).to.deep.equal([]);
    await window.press('End the call');
    await window.press('Run');
    await window.shows('Finished ok', 'dialog');
    await Promise.all([outgoing.ended(), incoming.ended()]);
    await window.press('Close');
    await window.press('See it in the history');
    await window.shows('Alice (101) → Bob (102)', 'main h1');
    expect(await window.axe('light')).to.deep.equal([]);
    await window.go('#/my-history');
    await window.shows('Bob (102)', '[role=grid]');
    await window.hides('Dave (104)', '[role=grid]');
    await other.outgoing.hangup();
  });

  it('transfer an own call', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const window = await open('alice', '#/my-calls');
    await window.shows('1 of 1');
    await window.press('alice');
    await window.press('Transfer');
    await window.type('to', '103');
    await window.press('Run');
    const transferred = await carol.incoming();
    transferred.ring();
    await transferred.answer();
    await outgoing.ended();
    await window.shows('Finished ok', 'dialog');
    await incoming.hangup();
    await transferred.ended();
  });

  it('play a voice message, which makes it heard, make it new again, and delete it', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'mine_leave.yaml'), LEAVE);
    const carol = await stage.phone('carol');
    const call = await eventually(async () => {
      // The node may not have read the file yet.
      const tried = await carol.call('*55mine_leave');
      await tried.answered();
      return tried;
    });
    call.play(440);
    await call.ended();
    const rest = await stage.rest('alice');
    const heard = async (): Promise<boolean[]> =>
      (await rest.get(MESSAGES)).json<{ heard: boolean }[]>().map((message) => message.heard);
    await eventually(async () => expect(await heard()).to.deep.equal([false]));
    const window = await open('alice', '#/voicemail');
    await window.shows('Carol (103)', '[role=grid]');
    await window.press('Carol');
    expect(await window.axe('light')).to.deep.equal([]);
    await window.press('▶ Play');
    await window.shows('Heard', 'dialog .facts');
    expect(await window.page.evaluate('document.querySelectorAll("dialog figure canvas").length')).to.be.above(0);
    expect(await window.axe('dark')).to.deep.equal([]);
    expect(await heard()).to.deep.equal([true]);
    await window.press('Mark as new');
    await window.shows('New', 'dialog .facts');
    expect(await heard()).to.deep.equal([false]);
    await window.press('Delete');
    await window.shows('No messages.');
    expect(await heard()).to.deep.equal([]);
  });

  it('change the password, say what is wrong at its field, and keep what is typed when the session ends', async () => {
    const window = await open('dave', '#/account');
    try {
      await window.type('Present password', 'wrong');
      await window.type('New password', 'better');
      await window.type('New password again', 'bettter');
      await window.press('Change the password');
      await window.shows('It differs from the new password.', '.field:nth-of-type(3)');
      await window.type('New password again', 'better');
      await window.press('Change the password');
      await window.shows('This is not the present password.', '.field:nth-of-type(1)');
      expect(await window.axe('light')).to.deep.equal([]);
      await window.type('Present password', 'demo-dave');
      await window.page.evaluate(`fetch('/rest/v1/iam/sessions/current', { method: 'DELETE' })`);
      await window.press('Change the password');
      await window.shows('Your session has ended', 'dialog');
      await window.page.type('dialog input[type=password]', 'demo-dave');
      await window.press('Log in');
      await window.shows('The password is changed.');
      const changed = { domain: 'demo.local', login: 'dave', pwd: 'better' };
      (await RestClient.login(stage.node.base, changed)).close();
    } finally {
      await window.page.evaluate(`fetch('/rest/v1/user/password', { method: 'PUT',
        headers: { 'content-type': 'application/json' }, body: '{"old_pwd":"better","pwd":"demo-dave"}' })`);
    }
  });

  it('set a picture, say that a file is too large, and remove the picture', async () => {
    const window = await open('dave', '#/account');
    const file = join(stage.node.dataDir, 'picture.png');
    const choose = async (content: Buffer): Promise<void> => {
      await writeFile(file, content);
      const input = await window.page.waitForSelector('input[type=file]');
      await (input as ElementHandle<never>).uploadFile(file);
    };
    await choose(Buffer.alloc(204_801));
    await window.page.waitForSelector('.card .problem');
    await choose(Buffer.from(PNG, 'base64'));
    await window.page.waitForFunction('document.querySelector("img.avatar")?.naturalWidth === 1');
    expect(await window.axe('dark')).to.deep.equal([]);
    await window.press('Remove the picture');
    await window.shows('You have no picture.');
  });

  it('open the softphone in a window of its own, once', async () => {
    const window = await open('alice', '#/account');
    await window.shows('Account', 'main h1');
    const phones = async () =>
      (await window.page.browserContext().pages()).filter((page) => page.url().endsWith('/phone'));
    await window.press('Phone in a window');
    await eventually(async () => expect(await phones()).to.have.length(1));
    await (await phones())[0]?.evaluate('globalThis.mark = 1');
    await window.page.bringToFront();
    await window.press('Phone in a window');
    await window.press('Change the password');
    expect(await (await phones())[0]?.evaluate('globalThis.mark')).to.equal(1);
  });
});
