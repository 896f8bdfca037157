import { expect } from 'chai';
import type { PhoneCall } from '../phones/phone-call.ts';
import { TONES, useRooms } from '../e2e/conference/support.ts';
import { Cable } from '../support/cable.ts';
import { eventually } from '../support/eventually.ts';
import type { ConsoleWindow } from './console-browser.ts';
import { useConsole } from './use-console.ts';

const FEATURECODES = '/rest/v1/domain/featurecodes';
const MARKUP = '<img src="x" onerror="document.title=\'run\'">';

describe('the rooms of the console', function () {
  this.timeout(60_000);
  const inConsole = useConsole(() => stage);
  const { stage, rooms } = useRooms();

  /** Alice, bob and carol in a room, each with a tone, and their names in the page. */
  async function meet(number: string): Promise<{ calls: PhoneCall[]; confid: string }> {
    const phones = await stage.phones('alice', 'bob', 'carol');
    const calls: PhoneCall[] = [];
    for (const [index, phone] of phones.entries()) calls.push(await rooms.enter(phone, number, TONES[index]));
    const { confid } = await rooms.only(3);
    return { calls, confid };
  }

  /** Waits until each call hears these tones and no others. */
  async function expectHeard(calls: readonly PhoneCall[], wanted: readonly (readonly number[])[]): Promise<void> {
    const tones = TONES.slice(0, calls.length);
    await eventually(async () =>
      expect(await Promise.all(calls.map((call) => call.hearsWhich(tones)))).to.deep.equal(wanted),
    );
  }

  const cell = (label: string): string => `.matrix [aria-label="${label}"]`;

  /** Presses Tab until the focus is there. */
  async function tabTo(window: ConsoleWindow, selector: string): Promise<void> {
    for (let times = 0; times < 40; times += 1) {
      await window.page.keyboard.press('Tab');
      if (await window.page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
    }
    throw new Error(`Tab does not lead to ${selector}`);
  }

  async function click(window: ConsoleWindow, label: string): Promise<void> {
    await (await window.page.waitForSelector(cell(label)))?.click();
  }

  it('change who hears whom by a click and by keys, and show what others change and who speaks', async () => {
    const { calls, confid } = await meet('*70123');
    const [one, two, three] = [TONES[0], TONES[1], TONES[2]];
    const window = await inConsole('admin', '#/conferences');
    await window.press('123');
    await window.shows('Room 123', 'main h1');
    await window.shows('Speaking: alice, bob, carol');
    await expectHeard(calls, [
      [two, three],
      [one, three],
      [one, two],
    ]);

    await click(window, 'bob hears alice');
    await window.page.waitForSelector(cell('bob does not hear alice'));
    await window.shows('bob does not hear alice', 'main > .page > [role=status]');
    await expectHeard(calls, [[two, three], [three], [one, two]]);
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);

    // From the cell that was clicked to "carol hears bob".
    await window.page.focus('.matrix');
    for (const key of ['ArrowDown', 'ArrowRight', 'Space'] as const) await window.page.keyboard.press(key);
    await window.page.waitForSelector(cell('carol does not hear bob'));
    await expectHeard(calls, [[two, three], [three], [one]]);
    await window.page.keyboard.press('Enter');
    await window.page.waitForSelector(cell('carol hears bob'));
    await window.page.keyboard.press('m');
    await window.page.waitForSelector(cell('alice does not hear carol'));
    await expectHeard(calls, [[two], [], [one, two]]);

    const carol = await rooms.participant({ confid }, 'carol');
    await rooms.topology(confid, [{ from: carol.participantid, to: '*', enabled: true }]);
    await window.page.waitForSelector(cell('alice hears carol'));
    await window.press('Everybody hears everybody');
    await window.page.waitForSelector(cell('bob hears alice'));
    await expectHeard(calls, [
      [two, three],
      [one, three],
      [one, two],
    ]);

    calls[0]?.play(undefined);
    await window.shows('Speaking: bob, carol');
    await calls[2]?.hangup();
    await window.hides('carol', '.matrix');
    await calls[0]?.hangup();
    await calls[1]?.hangup();
    await window.shows('The room has ended');
  });

  it('are used by keys alone: the way to the grid, a muted row, and the dialog of a participant', async () => {
    const { calls } = await meet('*70130');
    const [, two, three] = TONES;
    const window = await inConsole('admin');
    const { keyboard } = window.page;
    await window.shows('Live calls', 'main h1');
    for (const key of ['g', 'f'] as const) await keyboard.press(key);
    await window.shows('130', '[role=grid]');
    await tabTo(window, '[role=grid]');
    await keyboard.press('Enter');
    await window.page.waitForSelector(cell('carol hears bob'));
    await window.page.waitForSelector('.matrix.editable');
    await tabTo(window, '.matrix');
    await keyboard.press('m');
    await window.page.waitForSelector(cell('carol does not hear alice'));
    await expectHeard(calls, [[two, three], [three], [two]]);
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await window.shows('in the room, speaks', 'dialog');
    await tabTo(window, 'dialog .buttons button');
    await keyboard.press('Space');
    await window.shows('Unmute: everybody hears bob', 'dialog');
    await expectHeard(calls, [[three], [three], []]);
    await keyboard.press('Escape');
    await window.page.waitForSelector('dialog', { hidden: true });
    expect(await window.page.evaluate(`document.activeElement.matches('.matrix')`)).to.equal(true);
    await keyboard.press('End');
    await window.page.waitForSelector('.matrix .active[aria-label="bob hears carol"]');
    await keyboard.press('Home');
    await keyboard.press('m');
    await window.page.waitForSelector(cell('carol hears bob'));
    await expectHeard(calls, [[two, three], [three], [two]]);
    await Promise.all(calls.map((call) => call.hangup()));
  });

  it('let only the moderators be heard, and everybody again; operators see the PINs', async () => {
    const rest = await stage.rest();
    const opts = { moderators: ['101'], pin: '98765', pin_prompt: 'silence:50ms' };
    const body = { prefix: '*713', type: 'conference', opts };
    const { id } = (await rest.send('POST', FEATURECODES, { body })).json<{ id: string }>();
    try {
      const phones = await stage.phones('alice', 'bob', 'carol');
      const calls: PhoneCall[] = [];
      for (const [index, phone] of phones.entries()) {
        const call = await rooms.enter(phone, '*7135', TONES[index]);
        await call.sendDtmf('98765');
        calls.push(call);
      }
      const { confid } = await rooms.only(3);
      const [one, two, three] = [TONES[0], TONES[1], TONES[2]];
      const window = await inConsole('admin', `#/conferences/${confid}`);
      await window.shows('98765', '.facts');
      await window.shows('★', '.matrix .name[title=alice]');
      await window.press('Mute all but the moderators');
      await window.page.waitForSelector(cell('alice does not hear bob'));
      await expectHeard(calls, [[], [one], [one]]);
      await window.press('Everybody hears everybody');
      await window.page.waitForSelector(cell('alice hears bob'));
      await expectHeard(calls, [
        [two, three],
        [one, three],
        [one, two],
      ]);
      const user = await inConsole('alice', `#/my-rooms/${confid}`);
      await user.page.waitForSelector(cell('alice hears bob'));
      expect(await user.text('.facts')).to.not.contain('98765');
      await Promise.all(calls.map((call) => call.hangup()));
    } finally {
      await rest.send('DELETE', `${FEATURECODES}/${id}`);
    }
  });

  it('offer what the roles of the person allow, and nothing more', async () => {
    const rest = await stage.rest();
    const [user] = (await rest.send('LOOKUP', '/rest/v1/iam/users', { body: { login: 'dave' } })).json<[string]>();
    const grants = [{ path: '/uc/conferences/**', methods: ['GET'] }];
    const role = (await rest.send('POST', '/rest/v1/iam/roles', { body: { code: 'watcher', grants } })).json<{
      id: string;
    }>();
    const setRoles = async (roles: readonly string[]) =>
      expect((await rest.send('PATCH', `/rest/v1/iam/users/${user}`, { body: { roles } })).status).to.equal(200);
    try {
      await setRoles(['watcher']);
      const { calls, confid } = await meet('*70131');
      const window = await inConsole('dave', `#/conferences/${confid}`);
      await window.shows('You may not change this room.');
      await window.shows('Speaking: alice, bob, carol');
      const requests: string[] = [];
      window.page.on('request', (request) => void requests.push(request.method()));
      await click(window, 'bob hears alice');
      for (const key of ['Space', 'm', 'Home', 'Enter'] as const) await window.page.keyboard.press(key);
      await window.shows('<sip:bob@demo.local>', 'dialog');
      expect(await window.text('dialog .buttons')).to.equal('Close');
      expect(requests.filter((method) => method !== 'GET')).to.deep.equal([]);
      await window.page.keyboard.press('Escape');
      expect(
        await window.page.evaluate('document.querySelectorAll("main button:not(.number-to-call)").length'),
      ).to.equal(0);
      expect(await window.axe('dark')).to.deep.equal([]);
      await window.page.select('nav select', 'de');
      await window.shows('Sie dürfen diesen Raum nicht ändern.');
      await window.page.waitForSelector(cell('bob hört alice'));
      expect((await rooms.topology(confid, [])).length).to.equal(1);
      await Promise.all(calls.map((call) => call.hangup()));
    } finally {
      await setRoles(['user']);
      await rest.send('DELETE', `/rest/v1/iam/roles/${role.id}`);
    }
  });

  it('show an error of the node, and change nothing then', async () => {
    const { calls, confid } = await meet('*70132');
    const window = await inConsole('admin', `#/conferences/${confid}`);
    await window.page.waitForSelector('.matrix.editable');
    await window.page.setRequestInterception(true);
    window.page.on('request', (request) => {
      const isChange = request.method() === 'POST' && request.url().endsWith('/topology');
      const body = JSON.stringify({ error_code: 1500, error_message: 'The media server is away.' });
      void (isChange ? request.respond({ status: 503, contentType: 'application/json', body }) : request.continue());
    });
    await click(window, 'bob hears alice');
    await window.shows('The media server is away.', 'main [role=alert]');
    await window.page.waitForSelector(cell('bob hears alice'));
    expect(await window.axe('light')).to.deep.equal([]);
    const name = await window.page.waitForSelector('.matrix .name[title="carol"]');
    await name?.click();
    await window.press('Mute: nobody hears carol');
    await window.shows('The media server is away.', 'dialog [role=alert]');
    expect((await rooms.topology(confid, [])).length).to.equal(1);
    await Promise.all(calls.map((call) => call.hangup()));
  });

  it('call somebody in, remove a participant, and end the room', async () => {
    const { calls } = await meet('*70124');
    const dave = await stage.phone('dave');
    const window = await inConsole('admin', '#/conferences');
    await window.press('124');
    await window.type('Number to call', '1 0 4');
    await window.press('Add');
    await window.page.waitForSelector('main form .mistake:not(:empty)');
    await window.type('Number to call', '104');
    await window.press('Add');
    (await dave.incoming()).reject(486);
    await window.shows('104 does not come: 486 Busy Here', '.toasts');
    await window.hides('104', '.matrix');
    await window.type('Number to call', '104');
    await window.press('Add');
    const called = await dave.incoming();
    called.ring();
    await window.shows('104 · rings', '.matrix');
    // Parted from the first packet on.
    await click(window, '104 hears alice');
    await window.page.waitForSelector(cell('104 does not hear alice'));
    await called.answer();
    await window.hides('rings', '.matrix');
    await eventually(async () => expect(await called.hearsWhich(TONES.slice(0, 3))).to.deep.equal(TONES.slice(1, 3)));

    const name = await window.page.waitForSelector('.matrix .name[title="104"]');
    await name?.click();
    await window.shows('Remove from the room', 'dialog');
    expect(await window.axe('light')).to.deep.equal([]);
    await window.press('104 hears nobody');
    await window.shows('104 hears everybody', 'dialog');
    await window.press('Remove from the room');
    expect((await called.ended()).by).to.equal('there');
    await window.hides('104', '.matrix');
    await (await window.page.waitForSelector('.matrix .name[title="carol"]'))?.click();
    await window.shows('in the room', 'dialog');
    await calls.pop()?.hangup();
    await window.page.waitForSelector('dialog', { hidden: true });
    await window.shows('carol has left the room.', '.toasts');
    expect(await window.page.evaluate('location.hash')).to.match(/^#.conferences.conf-[0-9a-f]+$/);
    await window.press('End the room');
    await window.shows('The calls of all participants end: 2.', 'dialog');
    expect(await window.axe('dark')).to.deep.equal([]);
    await window.page.evaluate(`document.querySelector('dialog .danger').click()`);
    await Promise.all(calls.map((call) => call.ended()));
    await window.shows('The room has ended');
  });

  it('ring a phone once when the answer to adding it is lost and the person adds it again', async () => {
    const { calls } = await meet('*70133');
    const dave = await stage.phone('dave');
    const window = await inConsole('admin', '#/conferences');
    await window.press('133');
    await window.page.evaluate(`{
      const real = fetch;
      globalThis.fetch = async (url, options) => {
        const answer = await real(url, options);
        if (options.method !== 'POST' || !url.endsWith('/participants')) return answer;
        globalThis.fetch = real;
        throw new TypeError('the answer is lost');
      };
    }`);
    await window.type('Number to call', '104');
    await window.press('Add');
    await window.page.waitForSelector('main form .mistake:not(:empty)');
    const called = await dave.incoming();
    called.ring();
    await window.press('Add');
    await window.shows('104 is being called.', '.toasts');
    await called.answer();
    await rooms.only(4);
    expect(dave.waitingCalls).to.equal(0);
    await called.hangup();
    await Promise.all(calls.map((call) => call.hangup()));
  });

  it('of a user are those in which the user takes part, with the same matrix', async () => {
    const dave = await stage.phone('dave');
    const other = await rooms.enter(dave, '*70126');
    const window = await inConsole('alice', '#/my-rooms', { width: 320, height: 640 });
    await window.shows('You take part in no conference.');
    const [alice, bob] = await stage.phones('alice', 'bob');
    const first = await rooms.enter(alice, '*70125', TONES[0]);
    await window.shows('125', '[role=grid]');
    const second = await rooms.enter(bob, '*70125', TONES[1]);
    expect(await window.text('[role=grid]')).to.not.contain('126');
    await window.press('125');
    await window.shows('Speaking: alice, bob');
    await click(window, 'bob hears alice');
    await expectHeard([first, second], [[TONES[1]], []]);
    await window.page.waitForSelector(cell('bob does not hear alice'));
    for (const scheme of ['light', 'dark'] as const) expect(await window.axe(scheme)).to.deep.equal([]);
    expect(await window.page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    expect(await window.page.evaluate('document.querySelector("main").scrollWidth')).to.equal(320);
    await first.hangup();
    await window.shows('The room has ended, or you no longer take part.');
    await Promise.all([second.hangup(), other.hangup()]);
  });

  it('say that a participant has left who leaves during a click', async () => {
    const { calls, confid } = await meet('*70127');
    const window = await inConsole('admin', `#/conferences/${confid}`);
    await window.page.waitForSelector(cell('bob hears carol'));
    await window.page.setRequestInterception(true);
    const held = Promise.withResolvers<() => void>();
    window.page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/topology'))
        held.resolve(() => void request.continue());
      else void request.continue();
    });
    await click(window, 'bob hears carol');
    const goOn = await held.promise;
    await calls[2]?.hangup();
    await rooms.only(2);
    goOn();
    await window.shows('carol has left the room.', '.toasts');
    await window.hides('carol', '.matrix');
    expect(await window.page.evaluate('document.querySelector("main .problem")')).to.equal(null);
    await Promise.all([calls[0]?.hangup(), calls[1]?.hangup()]);
  });

  it('show what changed while the connection was broken', async () => {
    const { calls, confid } = await meet('*70128');
    const cable = await Cable.to(Number(new URL(stage.node.base).port));
    try {
      const window = await inConsole('admin', `#/conferences/${confid}`, {
        base: `http://127.0.0.1:${cable.port}`,
      });
      await window.page.waitForSelector(cell('bob hears alice'));
      cable.cut();
      await window.shows('No connection to the node.');
      const alice = await rooms.participant({ confid }, 'alice');
      await rooms.topology(confid, [{ from: alice.participantid, to: '*', enabled: false }]);
      await calls[2]?.hangup();
      cable.mend();
      await window.page.waitForSelector(cell('bob does not hear alice'));
      await window.hides('carol', '.matrix');
    } finally {
      cable.close();
    }
    await Promise.all([calls[0]?.hangup(), calls[1]?.hangup()]);
  });

  it('keep only the cells in sight of 100 participants, and markup and 10,000 characters in their places', async () => {
    const { calls, confid } = await meet('*70129');
    const window = await inConsole('admin', '#/conferences', { width: 360, height: 740 });
    await window.page.setRequestInterception(true);
    const people = Array.from({ length: 100 }, (_each, index) => ({
      participantid: `p${index}`,
      state: 'connected',
      callid: `c${index}`,
      // Nothing is as long from a real node.
      ruri: `<sip:${index === 1 ? encodeURIComponent(MARKUP.repeat(220)) : 1000 + index}@demo.local>`,
      moderator: false,
      talking: index % 2 === 0,
    }));
    window.page.on('request', (request) => {
      const isList = new URL(request.url()).pathname.endsWith(`/${confid}/participants`);
      void (isList
        ? request.respond({ contentType: 'application/json', body: JSON.stringify(people) })
        : request.continue());
    });
    await window.go(`#/conferences/${confid}`);
    await window.shows('Speaking: 1000, 1002');
    await window.shows('and 42 more');
    await window.shows(`${MARKUP.repeat(2).slice(0, 39)}…`, '.matrix');
    expect(await window.page.title()).to.equal('Conferences · Ringmaster');
    expect(await window.page.evaluate('document.querySelectorAll(".matrix [role=gridcell]").length')).to.be.within(
      50,
      1_000,
    );
    expect(await window.page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
    await window.page.focus('.matrix');
    await window.page.keyboard.down('Control');
    await window.page.keyboard.press('End');
    await window.page.keyboard.up('Control');
    await window.page.keyboard.press('ArrowLeft');
    const active = `document.getElementById(document.querySelector('.matrix').getAttribute('aria-activedescendant'))`;
    await eventually(async () =>
      expect(await window.page.evaluate(`${active}?.getAttribute('aria-label')`)).to.equal('1099 hears 1098'),
    );
    expect(
      await window.page.evaluate(`(() => {
        const cell = ${active}.getBoundingClientRect();
        const grid = document.querySelector('.matrix').getBoundingClientRect();
        return cell.right <= grid.right && cell.bottom <= grid.bottom && cell.left >= grid.left && cell.top >= grid.top;
      })()`),
    ).to.equal(true);
    expect(await window.axe('light')).to.deep.equal([]);
    await Promise.all(calls.map((call) => call.hangup()));
  });
});
