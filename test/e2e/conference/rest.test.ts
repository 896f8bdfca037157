import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { expectError } from '../expectations.ts';
import { ALL_CONFERENCES, OWN_CONFERENCES, TONES, useRooms } from './support.ts';

const FIELDS = ['confid', 'confroomnum', 'confnumber', 'uri', 'site', 'startts', 'uris'];

describe('GET /uc/conferences', () => {
  const { stage, rooms } = useRooms();

  it('lists, filters, orders, pages, masks and counts conferences', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    await rooms.enter(alice, '*7011');
    await rooms.enter(bob, '*7012');
    await rooms.enter(carol, '*7013');
    const rest = await stage.rest();
    const get = async (query: Record<string, string>) => (await rest.get(ALL_CONFERENCES, query)).json();
    const numbers = async (query: Record<string, string>) =>
      ((await get(query)) as { confroomnum: string }[]).map(({ confroomnum }) => confroomnum);
    expect(await numbers({})).to.deep.equal(['11', '12', '13']);
    expect(await numbers({ order: '[{"confroomnum":"desc"}]', limit: '2' })).to.deep.equal(['13', '12']);
    expect(await numbers({ offset: '1', limit: '1' })).to.deep.equal(['12']);
    for (const name of ['uri', 'confuri']) {
      expect(await numbers({ filter: JSON.stringify({ [name]: '<sip:*7012@demo.local>' }) })).to.deep.equal(['12']);
      expect(await get({ mask: `${name},nothing`, limit: '1' })).to.deep.equal([{ uri: '<sip:*7011@demo.local>' }]);
    }
    expect(await numbers({ filter: '{"uris":["<sip:103@demo.local>"]}' })).to.deep.equal(['13']);
    expect(await get({ countonly: 'true' })).to.deep.equal({ count: 3 });
    expect(await get({ limit: '0', filter: '{"confroomnum":"11|13"}' })).to.deep.equal({ count: 2 });
    expectError(await rest.get(ALL_CONFERENCES, { filter: '{' }), 400, 1400);
  });

  it('reads a single conference, with confuri and uri', async () => {
    const [alice] = await stage.phones('alice');
    await rooms.enter(alice, '*7014');
    const conference = await rooms.only(1);
    const one = (await rooms.ask('GET', `/${conference.confid}`)).json<object>();
    expect(one).to.have.all.keys(...FIELDS, 'confuri');
    expect(one).to.deep.equal({ ...conference, confuri: conference.uri });
    expect((await rooms.ask('GET', `/${conference.confid}?mask=confuri`)).json()).to.deep.equal({
      uri: conference.uri,
      confuri: conference.uri,
    });
    expectError(await rooms.ask('GET', '/conf-none'), 404, 1404);
  });
});

describe('LOOKUP /uc/conferences', () => {
  const { stage, rooms } = useRooms();

  it('finds a conference by each key, and uses only the key of highest priority', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    await rooms.enter(alice, '*7021');
    const here = await rooms.only(1);
    const dialog = await stage.dialog();
    await rooms.enter(bob, '*7022');
    await stage.connect(carol, bob, '102');
    const rest = await stage.rest();
    const [sipUser] = (await rest.get('/rest/v1/domain/sipusers', { filter: '{"login":"alice"}' })).json<
      { id: string; user_id: string }[]
    >();
    const keys: readonly (readonly [string, string | undefined])[] = [
      ['dialogid', dialog.dialogid],
      ['inviteid', dialog.inviteid],
      ['callid', dialog.callids[1]],
      ['uri', dialog.remoteuri],
      ['from', '101'],
      ['sipuserid', sipUser?.id],
      ['sipuserlogin', 'alice'],
      ['sipuserphonenumber', '101'],
      ['userid', sipUser?.user_id],
      ['confid', here.confid],
      ['confuri', here.uri],
      ['confroomnum', here.confroomnum],
      ['confnumber', here.confnumber],
      ['confnumber', '*7021'],
    ];
    for (const [index, [key, value]] of keys.entries()) {
      // Selectors of lower priority are ignored.
      const lower = keys.slice(index + 1).find(([name]) => name !== key);
      const body = { [key]: value, ...(lower === undefined ? {} : { [lower[0]]: 'nothing' }) };
      const answer = await rooms.ask('LOOKUP', '', body);
      expect(answer.json(), `${key} ${answer.text}`).to.deep.equal([here.confid]);
    }
    expect((await rooms.ask('LOOKUP', '', { from: 'alice', mode: 'sipuser' })).json()).to.deep.equal([here.confid]);
    expectError(await rooms.ask('LOOKUP', '', { from: '103' }), 404, 1404);
    expectError(await rooms.ask('LOOKUP', '', { confid: 'x', dialogid: 'none' }), 404, 1404);
    expectError(await rooms.ask('LOOKUP', '', {}), 400, 1400);
    expect((await rooms.ask('POST', '!lookup', { confroomnum: '21' })).json()).to.deep.equal([here.confid]);
  });

  it('lists several matches oldest first', async () => {
    const [alice] = await stage.phones('alice');
    const other = await stage.phone('alice', { unregistered: true });
    await rooms.enter(alice, '*7023');
    await rooms.enter(other, '*7024');
    const all = await rooms.list();
    expect((await rooms.ask('LOOKUP', '', { sipuserlogin: 'alice' })).json()).to.deep.equal(
      all.map(({ confid }) => confid),
    );
  });
});

describe('DELETE /uc/conferences/<confid>', () => {
  const { stage, rooms } = useRooms();

  it('ends answered and ringing calls, and the events name neither side as the one that hung up', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const calls = [await rooms.enter(alice, '*7031'), await rooms.enter(bob, '*7031')];
    const { confid } = await rooms.only(2);
    for (const to of ['103', '104']) await rooms.ask('POST', `/${confid}/participants`, { to });
    const ringing = [await carol.incoming(), await dave.incoming()];
    for (const call of ringing) call.ring();
    await eventually(async () => {
      const states = (await rooms.participants({ confid })).map(({ state }) => state);
      expect(states).to.deep.equal(['connected', 'connected', 'ringing', 'ringing']);
    });
    const answer = await rooms.ask('DELETE', `/${confid}`);
    expect([answer.status, answer.json()]).to.deep.equal([200, { confid }]);
    for (const call of calls) expect((await call.ended()).by).to.equal('there');
    for (const call of ringing) expect((await call.ended()).by).to.equal('cancelled');
    await rooms.expectNothing();
    expectError(await rooms.ask('DELETE', `/${confid}`), 404, 1404);
  });
});

describe('/uc/conferences/<confid>/participants', () => {
  const { stage, rooms } = useRooms();

  it('adds a participant through calling, ringing, connected and hold, heard by all', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, '*7041', TONES[0]);
    const { confid, uri } = await rooms.only(1);
    const answer = await rooms.ask('POST', `/${confid}/participants`, { to: '102' });
    expect(answer.status, answer.text).to.equal(200);
    const added = answer.json<{ confid: string; participantid: string }>();
    expect(added).to.have.all.keys('confid', 'participantid').and.include({ confid });
    const path = `/${confid}/participants/${added.participantid}`;
    const read = async () => (await rooms.ask('GET', path)).json<{ state: string }>();
    const state = async (expected: string) => eventually(async () => expect((await read()).state).to.equal(expected));
    await state('calling');
    const called = await bob.incoming();
    called.ring();
    await state('ringing');
    await called.answer();
    called.play(TONES[1]);
    await Promise.all([one.hears(TONES[1]), called.hears(TONES[0])]);
    await state('connected');
    expect(await read()).to.include({ luri: uri, ruri: '<sip:102@demo.local>' });
    expect((await rooms.only(2)).uris).to.include('<sip:bob@demo.local>');
    await called.hold();
    await state('hold');
    await called.hangup();
    await eventually(async () => expectError(await rooms.ask('GET', path), 404, 1404));
  });

  it('keeps a participant that refused or has an unknown number for a while as disconnected', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await rooms.enter(alice, '*7042');
    const { confid } = await rooms.only(1);
    const refusing = (await rooms.ask('POST', `/${confid}/participants`, { to: '102' })).json<{
      participantid: string;
    }>();
    (await bob.incoming()).reject(486);
    const nowhere = (await rooms.ask('POST', `/${confid}/participants`, { to: '999' })).json<{
      participantid: string;
    }>();
    for (const { participantid } of [refusing, nowhere]) {
      const path = `/${confid}/participants/${participantid}`;
      await eventually(async () => expect((await rooms.ask('GET', path)).json()).to.include({ state: 'disconnected' }));
      const gone = expectError(await rooms.ask('DELETE', path), 404, 1404);
      expect(gone.error_message).to.equal('Call/Participant not found');
    }
    expectError(await rooms.ask('POST', `/${confid}/participants`, {}), 400, 1400);
    expectError(await rooms.ask('POST', `/${confid}/participants`, { to: 'a b' }), 400, 1400);
    const unknown = expectError(await rooms.ask('POST', `/${confid}/participants`, { to: '102', too: 1 }), 400, 1400);
    expect(unknown.error_details).to.deep.equal({ field: 'too', reason: "is not known; did you mean 'to'?" });
    expectError(await rooms.ask('POST', '/conf-none/participants', { to: '102' }), 404, 1404);
  });

  it('rings a phone once for a repeated request with the same Idempotency-Key', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await rooms.enter(alice, '*7045');
    const { confid } = await rooms.only(1);
    const rest = await stage.rest();
    const add = async (to: string) =>
      rest.send('POST', `${ALL_CONFERENCES}/${confid}/participants`, {
        body: { to },
        headers: { 'idempotency-key': confid },
      });
    const first = await add('102');
    const again = await add('102');
    expect(again.json()).to.deep.equal(first.json());
    expect(again.header('idempotency-replayed')).to.equal('true');
    (await bob.incoming()).reject(603);
    expectError(await add('103'), 422, 1405);
    expect(bob.waitingCalls).to.equal(0);
    expect(await rooms.participants({ confid })).to.have.length(2);
  });

  it('lists with dry_run what a change would affect, and changes nothing', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await rooms.enter(alice, '*7046');
    const { confid } = await rooms.only(1);
    const { dialogid, legs } = await stage.dialog();
    const { participantid } = await rooms.participant({ confid }, 'alice');
    const touched = { dialogid, callids: legs.map(({ callid }) => callid) };
    const dry = async (method: string, path: string, body?: unknown) => {
      const answer = await rooms.ask(method, `/${confid}${path}?dry_run=true`, body);
      expect(answer.status, answer.text).to.equal(200);
      const {
        dry_run: done,
        operation,
        dialogs,
      } = answer.json<{
        dry_run: boolean;
        operation: string;
        dialogs: { dialogid: string; legs: { callid: string }[] }[];
      }>();
      expect(done).to.equal(true);
      return { operation, dialogs: dialogs.map((each) => ({ ...each, legs: each.legs.map(({ callid }) => callid) })) };
    };
    const dialogs = [{ dialogid: touched.dialogid, legs: touched.callids }];
    expect(await dry('DELETE', '')).to.deep.equal({ operation: 'terminate_conference', dialogs });
    expect(await dry('DELETE', `/participants/${participantid}`)).to.deep.equal({
      operation: 'remove_participant',
      dialogs,
    });
    expect(await dry('POST', '/participants', { to: '102' })).to.deep.equal({
      operation: 'add_participant',
      dialogs: [],
    });
    expectError(await rooms.ask('POST', `/${confid}/participants?dry_run=true`, { to: 'a b' }), 400, 1400);
    expectError(await rooms.ask('POST', '/conf-none/participants?dry_run=true', { to: '102' }), 404, 1404);
    expectError(await rooms.ask('DELETE', `/${confid}/participants/none?dry_run=true`), 404, 1404);
    expect(bob.waitingCalls).to.equal(0);
    expect(call.established).to.equal(true);
    expect(await rooms.participants({ confid })).to.have.length(1);
  });

  it('adds a scenario, which hears and is heard, and leaves at its end', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, '*7049', TONES[0]);
    const other = await rooms.enter(bob, '*7049');
    const conference = await rooms.only(2);
    const { confid } = conference;
    const add = async (to: string) => {
      const answer = await rooms.ask('POST', `/${confid}/participants`, { to });
      expect(answer.status, answer.text).to.equal(200);
      return answer.json<{ participantid: string }>();
    };
    const { participantid } = await add('501');
    await rooms.only(3);
    // Only the echo sends alice's tone back to alice.
    await one.hears(TONES[0]);
    await rooms.topology(confid, [{ from: participantid, to: '*', enabled: false }]);
    await eventually(async () => one.hearsNot(TONES[0], { forMs: 200 }));
    one.play(undefined);
    expect((await rooms.ask('DELETE', `/${confid}/participants/${participantid}`)).status).to.equal(200);
    await rooms.only(2);
    await add('500');
    await Promise.all([one.hearsSound(), other.hearsSound()]);
    // A scenario alone does not keep a room.
    await one.hangup();
    await other.hangup();
    await rooms.expectNothing();
  });

  it('refuses to add another conference', async () => {
    const [alice] = await stage.phones('alice');
    await rooms.enter(alice, '*7047');
    const { confid } = await rooms.only(1);
    for (const path of ['', '?dry_run=true']) {
      const refused = expectError(
        await rooms.ask('POST', `/${confid}/participants${path}`, { to: '*7048' }),
        422,
        1405,
      );
      expect(refused.error_details?.field).to.equal('to');
    }
  });

  it('removes one participant; the others go on', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*7043', TONES[0]);
    const other = await rooms.enter(bob, '*7043', TONES[1]);
    const conference = await rooms.only(2);
    const { confid } = conference;
    await rooms.ask('POST', `/${confid}/participants`, { to: '103' });
    const ringing = await carol.incoming();
    ringing.ring();
    for (const [user, call, by] of [
      ['bob', other, 'there'],
      ['103', ringing, 'cancelled'],
    ] as const) {
      const { participantid } = await rooms.participant(conference, user);
      const answer = await rooms.ask('DELETE', `/${confid}/participants/${participantid}`);
      expect([answer.status, answer.json()]).to.deep.equal([200, { confid, participantid }]);
      expect((await call.ended()).by).to.equal(by);
    }
    await eventually(async () => one.hearsNot(TONES[1], { forMs: 200 }));
    expect(one.established).to.equal(true);
    const none = expectError(await rooms.ask('DELETE', `/${confid}/participants/none`), 404, 1404);
    expect(none.error_message).to.equal('Call/Participant not found');
    const nowhere = expectError(await rooms.ask('DELETE', '/conf-none/participants/none'), 404, 1404);
    expect(nowhere.error_message).to.equal('Call/Participant not found');
  });

  it('lists participants with filter, mask and count', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await rooms.enter(alice, '*7044');
    await rooms.enter(bob, '*7044');
    const { confid } = await rooms.only(2);
    const rest = await stage.rest();
    const get = async (query: Record<string, string>) =>
      (await rest.get(`${ALL_CONFERENCES}/${confid}/participants`, query)).json();
    expect(await get({ filter: '{"ruri":"%bob%"}', mask: 'ruri,state' })).to.deep.equal([
      { state: 'connected', ruri: '<sip:bob@demo.local>' },
    ]);
    expect(await get({ countonly: 'true' })).to.deep.equal({ count: 2 });
  });
});

describe('/uc/conferences_by_participation', () => {
  const { stage, rooms } = useRooms();

  it('shows and changes only conferences with an account of the user', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await rooms.enter(alice, '*7051');
    const { confid } = await rooms.only(1);
    expect(await rooms.list('alice', OWN_CONFERENCES)).to.have.length(1);
    expect(await rooms.list('bob', OWN_CONFERENCES)).to.deep.equal([]);
    const asBob = async (method: string, path: string, body?: unknown) =>
      expectError(await rooms.ask(method, path, body, 'bob', OWN_CONFERENCES), 404, 1404);
    await asBob('GET', `/${confid}`);
    await asBob('DELETE', `/${confid}`);
    await asBob('GET', `/${confid}/participants`);
    await asBob('POST', `/${confid}/participants`, { to: '102' });
    await asBob('GET', `/${confid}/topology`);
    await asBob('POST', `/${confid}/topology`, []);
    await asBob('LOOKUP', '', { confid });
    expect(bob.waitingCalls).to.equal(0);
    const mine = async (method: string, path: string, body?: unknown) =>
      (await rooms.ask(method, path, body, 'alice', OWN_CONFERENCES)).status;
    expect(await mine('LOOKUP', '', { confid })).to.equal(200);
    const other = await rooms.enter(bob, '*7051');
    // For a participant, another participant's call, account or number also selects it.
    const [dialog] = (await stage.dialogs()).filter(({ acallid }) => acallid === other.callId);
    for (const key of [
      { dialogid: dialog?.dialogid },
      { from: '102' },
      { sipuserlogin: 'bob' },
      { callid: other.callId },
    ]) {
      const found = await rooms.ask('LOOKUP', '', key, 'alice', OWN_CONFERENCES);
      expect(found.json(), JSON.stringify(key)).to.deep.equal([confid]);
    }
    await other.hangup();
    await eventually(async () => expect(await rooms.list('bob', OWN_CONFERENCES)).to.deep.equal([]));
    expect(await mine('POST', `/${confid}/participants`, { to: '102' })).to.equal(200);
    // A called user may see the conference that calls.
    const called = await bob.incoming();
    expect(await rooms.list('bob', OWN_CONFERENCES)).to.have.length(1);
    called.reject(603);
    await eventually(async () => expect(await rooms.list('bob', OWN_CONFERENCES)).to.deep.equal([]));
    expect(await mine('DELETE', `/${confid}`)).to.equal(200);
    await call.ended();
  });

  it('requires a session, and answers an unknown method', async () => {
    const { base } = stage.node;
    expect((await fetch(base + ALL_CONFERENCES)).status).to.equal(401);
    expectError(await rooms.ask('PUT', '/conf-none', {}), 405, 1406);
  });
});
