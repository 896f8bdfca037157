import { expect } from 'chai';
import type { PhoneCall } from '../../phones/phone-call.ts';
import { eventually } from '../../support/eventually.ts';
import { CALLS } from '../../support/stage.ts';
import { expectError, expectTalk } from '../expectations.ts';
import { TONES, useRooms } from './support.ts';

const RULES = '/rest/v1/domain/recordingrules';
const RECORDINGS = '/rest/v1/domain/recordings';
const OWN_CALLS = '/rest/v1/user/sip/calls';
const SIDES = ['x', 'y'] as const;

/** Both are in one room and hear each other. */
async function expectTogether(one: PhoneCall, other: PhoneCall): Promise<void> {
  one.play(TONES[0]);
  other.play(TONES[1]);
  await Promise.all([one.hears(TONES[1]), other.hears(TONES[0])]);
}

describe('SWITCHCONF /uc/calls/<id>', () => {
  const { stage, rooms } = useRooms();

  async function featureCode(prefix: string, opts: object): Promise<void> {
    const rest = await stage.rest();
    const made = await rest.send('POST', '/rest/v1/domain/featurecodes', {
      body: { prefix, type: 'conference', opts },
    });
    expect(made.status, made.text).to.equal(200);
  }

  for (const mode of [0, 1, 2, 3, 4, 5]) {
    it(`moves both parties of a call into a new conference without a gap; answered in mode ${mode}`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await expectTalk(outgoing, incoming);
      const { dialogid } = await stage.dialog();
      const rest = await stage.rest();
      const answer = await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body: { response_mode: mode } });
      expect(answer.status, answer.text).to.equal(200);
      const body = answer.json<Record<string, string>>();
      expect(body).to.include({ dialogid, result: 'ok' });
      expect(body['referto']).to.match(/^\*70\d+$/);
      for (const side of SIDES) expect(body[`${side}_ivrcallid`]).to.be.a('string').and.not.equal('');
      await expectTogether(outgoing, incoming);
      const conference = await rooms.only(2);
      expect(conference.uri).to.equal(`<sip:${body['referto']}@demo.local>`);
      const dialogs = await stage.dialogs();
      expect(dialogs).to.have.length(2);
      if (mode >= 3) {
        expect(body['confid']).to.equal(conference.confid);
        expect(SIDES.map((side) => body[`${side}_new_dialogid`])).to.have.members(dialogs.map((each) => each.dialogid));
        expect(SIDES.map((side) => body[`${side}_new_acallid`])).to.have.members(dialogs.map((each) => each.acallid));
        for (const side of SIDES) expect(body[`${side}_new_last_response`]).to.equal('SIP/2.0 200 OK');
      }
      expect([outgoing.established, incoming.established]).to.deep.equal([true, true]);
    });
  }

  it('moves a call into an existing room, with its labels and a new one', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const waiting = await rooms.enter(carol, '*7071', TONES[2]);
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const rest = await stage.rest();
    const [dialogid] = (await rest.send('LOOKUP', CALLS, { body: { from: '101' } })).json<string[]>();
    await rest.send('SETUP_BINDINGS', `${CALLS}/${dialogid}`, { body: { command: 'add', label: 'one' } });
    const body = (
      await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, {
        body: { referto: '*7071', binding: 'two', response_mode: 5 },
      })
    ).json<Record<string, string>>();
    expect(body).to.include({ result: 'ok', referto: '*7071', confid: (await rooms.only(3)).confid });
    await Promise.all([outgoing.hears(TONES[2]), incoming.hears(TONES[2])]);
    await expectTogether(outgoing, incoming);
    await waiting.hears(TONES[0]);
    for (const side of SIDES) {
      const labels = await rest.send('SETUP_BINDINGS', `${CALLS}/${body[`${side}_new_dialogid`]}`, {
        body: { command: 'get' },
      });
      expect(labels.json()).to.deep.include({ labels: ['one', 'two'] });
    }
  });

  it('directly after the answer, many times, loses no party', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const rest = await stage.rest();
    for (let round = 0; round < 5; round += 1) {
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      const asked = await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body: { response_mode: 5 } });
      expect(asked.json(), asked.text).to.include({ result: 'ok' });
      await expectTogether(outgoing, incoming);
      await Promise.all([outgoing.hangup(), incoming.hangup()]);
      await rooms.expectNothing();
    }
  });

  it('leaves recordings of the calls that were heard, and no failed ones of those on its way', async () => {
    const rest = await stage.rest();
    const recordings = async () =>
      (await rest.get(RECORDINGS)).json<{ id: string; dialogid: string; status: string }[]>();
    const others = new Set((await recordings()).map(({ id }) => id));
    const made = async () => (await recordings()).filter(({ id }) => !others.has(id));
    const rule = await rest.send('POST', RULES, { body: {} });
    try {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await expectTalk(outgoing, incoming);
      const { dialogid } = await stage.dialog();
      const { text } = await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body: { response_mode: 5 } });
      await expectTogether(outgoing, incoming);
      await Promise.all([outgoing.hangup(), incoming.hangup()]);
      await rooms.expectNothing();
      const { x_new_dialogid: x, y_new_dialogid: y } = JSON.parse(text) as Record<string, string>;
      await eventually(async () => {
        const of = (await made()).map(({ dialogid: call, status }) => [call, status]);
        expect(of).to.include.deep.members([dialogid, x, y].map((call) => [call, 'saved']));
        // On a busy machine a call on its way lasts long enough for a packet of sound.
        expect(of.filter(([, status]) => status !== 'saved')).to.deep.equal([]);
      });
    } finally {
      await rest.send('DELETE', `${RULES}/${rule.json<{ id: string }>().id}`);
      for (const { id } of await made()) await rest.send('DELETE', `${RECORDINGS}/${id}`);
    }
  });

  it('is refused for a ringing call, a scenario side, or a number that is no room, and changes nothing', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const rest = await stage.rest();
    const switchconf = async (dialogid: string, body: object) =>
      rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body });
    const ringing = await alice.call('102');
    const arriving = await bob.incoming();
    arriving.ring();
    await ringing.ringing();
    const { dialogid } = await stage.dialog();
    expect(expectError(await switchconf(dialogid, {}), 422, 1405).error_details?.field).to.equal('dialogid');
    await arriving.answer();
    await ringing.answered();
    expect(expectError(await switchconf(dialogid, { referto: '103' }), 422, 1405).error_details?.field).to.equal(
      'referto',
    );
    expectError(await switchconf(dialogid, { response_mode: 9 }), 400, 1400);
    expectError(await switchconf('none', {}), 404, 1413);
    await expectTalk(ringing, arriving);
    await ringing.hangup();
    await stage.expectNoDialog();
    const echo = await alice.call('501');
    await echo.answered();
    expectError(await switchconf((await stage.dialog()).dialogid, {}), 422, 1405);
    expect(echo.established).to.equal(true);
  });

  it('into a room without two free places is 422, and the call goes on', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const rest = await stage.rest();
    await featureCode('*7501', { max_members: 1 });
    await featureCode('*7502', { max_members: 2 });
    const member = await rooms.enter(carol, '*75021');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const [dialogid = ''] = (await rest.send('LOOKUP', CALLS, { body: { from: '101' } })).json<string[]>();
    for (const referto of ['*7501', '*75017', '*75021']) {
      const refused = await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body: { referto } });
      expect(expectError(refused, 422, 1405).error_details, referto).to.include({ field: 'referto' });
    }
    await expectTalk(outgoing, incoming);
    expect((await stage.dialogs()).map((each) => each.dialogid)).to.include(dialogid);
    expect(member.established).to.equal(true);
  });

  it('reconnects the parties when others take the places at the same moment', async () => {
    await featureCode('*7503', { max_members: 3 });
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const rest = await stage.rest();
    const calls = [await stage.connect(alice, bob, '102'), await stage.connect(carol, dave, '104')];
    const ids = (await stage.dialogs()).map(({ dialogid }) => dialogid);
    const asked = await Promise.all(
      ids.map(async (id) =>
        rest.send('SWITCHCONF', `${CALLS}/${id}`, { body: { referto: '*75031', binding: id, response_mode: 5 } }),
      ),
    );
    expect(asked.map(({ status }) => status)).to.deep.equal([200, 200]);
    const results = asked.map((answer) => answer.json<Record<string, string>>());
    expect(results.map(({ result }) => result)).to.have.members(['ok', 'rejected']);
    for (const { outgoing, incoming } of calls) await expectTogether(outgoing, incoming);
    await rooms.only(2);
    // The party that did not get in has a call again, with the label of the operation.
    const failed = results.find(({ result }) => result === 'rejected');
    expect([failed?.['x_new_last_response'], failed?.['y_new_last_response']]).to.include('SIP/2.0 486 Busy Here');
    const [left, ...others] = (await stage.dialogs()).filter(({ uris }) => !uris.some((uri) => uri.includes('*7503')));
    expect(others).to.deep.equal([]);
    expect(left?.legs.map(({ side }) => side)).to.deep.equal(['a', 'b']);
    const labels = await rest.send('SETUP_BINDINGS', `${CALLS}/${left?.dialogid}`, { body: { command: 'get' } });
    expect(labels.json()).to.deep.include({ labels: [failed?.['dialogid']] });
  });

  it('lists with dry_run what it would affect, and changes nothing', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const rest = await stage.rest();
    const answer = await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body: {}, query: { dry_run: true } });
    expect(answer.json()).to.deep.include({ dry_run: true, operation: 'switchconf' });
    await expectTalk(outgoing, incoming);
    expect((await stage.dialog()).dialogid).to.equal(dialogid);
  });

  it('works on own calls, and not on calls of other users', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const as = async (login: string) =>
      (await stage.rest(login)).send('SWITCHCONF', `${OWN_CALLS}/${dialogid}`, { body: { response_mode: 4 } });
    expectError(await as('carol'), 404, 1413);
    expect((await as('bob')).json()).to.include({ result: 'ok' });
    await expectTogether(outgoing, incoming);
  });
});

describe('REFERCONF /uc/calls/<id>', () => {
  const { stage, rooms } = useRooms();

  /** Alice holds the conference of carol and talks to bob. */
  const consultation = async (room: string) => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const waiting = await rooms.enter(carol, room, TONES[2]);
    const held = await rooms.enter(alice, room, TONES[0]);
    const conference = await rooms.only(2);
    await held.hold();
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const dialog = (await stage.dialogs()).find(({ uris }) => uris.includes('<sip:bob@demo.local>'));
    if (dialog === undefined) throw new Error('no call to bob');
    return { waiting, held, conference, outgoing, incoming, dialogid: dialog.dialogid, phones: { alice, bob } };
  };

  it("brings in the other party; the initiator's conference call stays on hold until the initiator resumes it", async () => {
    const { waiting, held, conference, outgoing, incoming, dialogid } = await consultation('*7081');
    const rest = await stage.rest();
    const answer = await rest.send('REFERCONF', `${CALLS}/${dialogid}`, {
      body: { by: '<sip:alice@demo.local>', referconfid: conference.confid, response_mode: 4 },
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json()).to.include({ dialogid, result: 'ok', new_last_response: 'SIP/2.0 200 OK' });
    expect(answer.json()).to.have.all.keys(
      'dialogid',
      'result',
      'ivrcallid',
      'new_acallid',
      'new_last_response',
      'new_dialogid',
    );
    await outgoing.ended();
    incoming.play(TONES[1]);
    await Promise.all([incoming.hears(TONES[2]), waiting.hears(TONES[1])]);
    expect((await rooms.participant(conference, 'alice')).state).to.equal('hold');
    await held.unhold();
    await Promise.all([held.hears(TONES[1]), incoming.hears(TONES[0])]);
  });

  it('finds the conference by every selector, on both paths', async function () {
    this.timeout(40_000);
    const { waiting, conference, outgoing, incoming, dialogid, phones } = await consultation('*7082');
    const [carols] = (await stage.dialogs()).filter(({ uris }) => uris.includes('<sip:carol@demo.local>'));
    const rest = await stage.rest();
    const [sipUser] = (await rest.get('/rest/v1/domain/sipusers', { filter: '{"login":"carol"}' })).json<
      { id: string; user_id: string }[]
    >();
    const selectors = [
      { referdialogid: carols?.dialogid },
      { referinviteid: carols?.inviteid },
      { refercallid: carols?.acallid },
      { referuri: carols?.remoteuri },
      { referfrom: '103' },
      { referfrom: 'carol', mode: 'sipuser' },
      { refersipuserid: sipUser?.id },
      { refersipuserlogin: 'carol' },
      { refersipuserphonenumber: '103' },
      { referuserid: sipUser?.user_id },
      { referconfid: conference.confid },
      { referconfroomnum: conference.confroomnum },
      { referconfnumber: '*7082' },
      { referconfnumber: conference.confnumber },
    ];
    const paths = [
      [CALLS, 'admin'],
      [OWN_CALLS, 'alice'],
    ] as const;
    // Alice takes part in the conference: carol's call also selects it on alice's own path.
    const ask = async ([base, login]: (typeof paths)[number], id: string, selector: object, query = {}) => {
      const body = { by: '<sip:alice@demo.local>', response_mode: 4, ...selector };
      const answer = await (await stage.rest(login)).send('REFERCONF', `${base}/${id}`, { body, query });
      expect(answer.status, `${base} ${JSON.stringify(selector)} ${answer.text}`).to.equal(200);
      return answer;
    };
    for (const path of paths) {
      for (const selector of selectors) await ask(path, dialogid, selector, { dry_run: true });
    }
    await expectTalk(outgoing, incoming);
    waiting.play(TONES[2]);
    let [call, brought] = [outgoing, incoming];
    for (const [index, selector] of selectors.entries()) {
      const [id = ''] = (await rest.send('LOOKUP', CALLS, { body: { callid: call.callId } })).json<string[]>();
      const path = paths[index % 2] as (typeof paths)[number];
      expect((await ask(path, id, selector)).json(), JSON.stringify(selector)).to.include({
        dialogid: id,
        result: 'ok',
      });
      await call.ended();
      brought.play(TONES[1]);
      await Promise.all([brought.hears(TONES[2]), waiting.hears(TONES[1])]);
      await brought.hangup();
      if (index === selectors.length - 1) break;
      ({ outgoing: call, incoming: brought } = await stage.connect(phones.alice, phones.bob, '102'));
    }
  });

  it('is refused when no conference or several conferences match', async () => {
    const { conference, dialogid, outgoing, incoming } = await consultation('*7083');
    const other = await stage.phone('dave');
    await rooms.enter(other, '*7084');
    const second = await stage.phone('carol', { unregistered: true });
    await rooms.enter(second, '*7084');
    const rest = await stage.rest();
    const refer = async (body: object) =>
      rest.send('REFERCONF', `${CALLS}/${dialogid}`, { body: { by: '<sip:alice@demo.local>', ...body } });
    expectError(await refer({ referconfid: 'conf-none' }), 404, 1404);
    expectError(await refer({}), 400, 1400);
    expectError(await refer({ referconfid: conference.confid, by: '<sip:nobody@demo.local>' }), 422, 1405);
    const ambiguous = expectError(await refer({ refersipuserlogin: 'carol' }), 409, 1402);
    expect(ambiguous.error_details?.field).to.equal('refersipuserlogin');
    await expectTalk(outgoing, incoming);
    const bob = await (await stage.rest('bob')).send('REFERCONF', `${OWN_CALLS}/${dialogid}`, {
      body: { by: '<sip:alice@demo.local>', referconfid: conference.confid },
    });
    expectError(bob, 404, 1404);
  });
});
