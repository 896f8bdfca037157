import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { PhoneCall } from '../../phones/phone-call.ts';
import { observeFor } from '../../phones/wait.ts';
import { eventually } from '../../support/eventually.ts';
import { CALLS } from '../../support/stage.ts';
import { expectError, expectTalk } from '../expectations.ts';
import { OWN_CONFERENCES, TONES, useRooms } from './support.ts';

const RECORDINGS = '/rest/v1/domain/recordings';

/** Tones played by rooms. */
const ENTER = 2500;
const LEAVE = 2750;
const PROMPT = 3000;

describe('settings of conference rooms', () => {
  const { stage, rooms } = useRooms();
  let prefixes = 710;
  const made: string[] = [];

  /** Makes a featurecode with these settings; returns its prefix. */
  const featureCode = async (opts: object): Promise<string> => {
    prefixes += 1;
    const prefix = `*${prefixes}`;
    const rest = await stage.rest();
    const answer = await rest.send('POST', '/rest/v1/domain/featurecodes', {
      body: { prefix, type: 'conference', opts },
    });
    expect(answer.status, answer.text).to.equal(200);
    made.push(answer.json<{ id: string }>().id);
    return prefix;
  };

  afterEach('remove the featurecodes', async () => {
    const rest = await stage.rest();
    for (const id of made.splice(0)) await rest.send('DELETE', `/rest/v1/domain/featurecodes/${id}`);
  });

  const tone = (frequency: number) => `tone:%(800,0,${frequency})`;
  const pair = async (room: string): Promise<[PhoneCall, PhoneCall]> => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    return [await rooms.enter(alice, room, TONES[0]), await rooms.enter(bob, room, TONES[1])];
  };

  it('pin: the right PIN admits a caller; a caller without it is never a participant and is hung up', async () => {
    const prefix = await featureCode({ pin: '4711', pin_prompt: tone(PROMPT) });
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, `${prefix}1`, TONES[0]);
    await one.hears(PROMPT);
    expect(await rooms.list(), 'nobody has got in').to.deep.equal([]);
    expect(await rooms.list('alice', OWN_CONFERENCES), 'seen only from inside').to.deep.equal([]);
    await one.sendDtmf('4711');
    const conference = await rooms.only(1);
    expect(await rooms.list('alice', OWN_CONFERENCES)).to.have.length(1);
    const other = await rooms.enter(bob, `${prefix}1`, TONES[1]);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await other.hears(PROMPT);
      await one.hearsNot(TONES[1], { forMs: 100 });
      // Ending the PIN with # costs no attempt.
      await other.sendDtmf(attempt === 1 ? '0000' : '0000#');
    }
    expect((await other.ended()).by).to.equal('there');
    expect((await rooms.participants(conference)).map(({ ruri }) => ruri)).to.deep.equal(['<sip:alice@demo.local>']);
  }).timeout(30_000);

  it('pin: SWITCHCONF of own calls is refused, unless the user already takes part', async () => {
    const room = `${await featureCode({ pin: '12' })}3`;
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const switchconf = async () =>
      (await stage.rest('alice')).send('SWITCHCONF', `/rest/v1/user/sip/calls/${dialogid}`, {
        body: { referto: room, response_mode: 4 },
      });
    expect(expectError(await switchconf(), 422, 1405).error_details?.field).to.equal('referto');
    const one = await rooms.enter(carol, room);
    await one.sendDtmf('12');
    const { confid } = await rooms.only(1);
    expectError(await switchconf(), 422, 1405);
    await expectTalk(outgoing, incoming);
    await outgoing.hold();
    await rooms.ask('POST', `/${confid}/participants`, { to: '101' });
    await (await alice.incoming()).answer();
    expect((await switchconf()).json()).to.include({ result: 'ok', confid });
  });

  it('pin: a transferred party is asked; a party called by the conference or brought by REFERCONF is not', async () => {
    const prefix = await featureCode({ pin: '12', pin_prompt: tone(PROMPT) });
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, `${prefix}2`, TONES[0]);
    await one.sendDtmf('12');
    const { confid } = await rooms.only(1);
    await rooms.ask('POST', `/${confid}/participants`, { to: '102' });
    const called = await bob.incoming();
    await called.answer();
    await called.hears(TONES[0]);
    const { outgoing, incoming } = await stage.connect(bob, carol, '103');
    const rest = await stage.rest();
    const body = { by: '<sip:bob@demo.local>', referconfid: confid, response_mode: 4 };
    const [dialogid] = (await rest.send('LOOKUP', CALLS, { body: { from: '103' } })).json<string[]>();
    expect((await rest.send('REFERCONF', `${CALLS}/${dialogid}`, { body })).json()).to.include({ result: 'ok' });
    await outgoing.ended();
    await incoming.hears(TONES[0]);
    await incoming.hangup();
    const again = await stage.connect(bob, carol, '103');
    await again.outgoing.request('REFER', [
      { name: 'Refer-To', value: `<sip:${prefix}2@demo.local>` },
      { name: 'Referred-By', value: '<sip:bob@demo.local>' },
    ]);
    await again.incoming.hears(PROMPT);
    await again.incoming.sendDtmf('12');
    await again.incoming.hears(TONES[0]);
  }).timeout(30_000);

  it('moderator: participants wait with music until a moderator joins, and leave with the last one', async () => {
    const prefix = await featureCode({ moderators: ['103'], wait_for_moderator: true, end_with_moderator: true });
    const [one, other] = await pair(`${prefix}3`);
    await one.hearsSound();
    await one.hearsNot(TONES[1], { forMs: 300 });
    const carol = await stage.phone('carol');
    const moderator = await rooms.enter(carol, `${prefix}3`, TONES[2]);
    await Promise.all([one.hears(TONES[1]), other.hears(TONES[0]), one.hears(TONES[2])]);
    await moderator.hangup();
    for (const call of [one, other]) expect((await call.ended()).by).to.equal('there');
  });

  it('moderator: a moderator may have a separate PIN', async () => {
    const prefix = await featureCode({ pin: '1', moderator_pin: '99', end_with_moderator: true });
    const [one, other] = await pair(`${prefix}4`);
    await one.sendDtmf('1#');
    await other.sendDtmf('99');
    await Promise.all([one.hears(TONES[1]), other.hears(TONES[0])]);
    await other.hangup();
    expect((await one.ended()).by).to.equal('there');
  });

  it('announce_enter and announce_leave are heard by all participants', async () => {
    const prefix = await featureCode({ announce_enter: tone(ENTER), announce_leave: tone(LEAVE) });
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, `${prefix}5`);
    await rooms.only(1);
    const heard = one.hears(ENTER);
    const other = await rooms.enter(bob, `${prefix}5`);
    await Promise.all([heard, other.hears(ENTER)]);
    await rooms.only(2);
    const left = one.hears(LEAVE);
    await other.hangup();
    await left;
  });

  it('a missing sound file does not keep callers out', async () => {
    const prefix = await featureCode({ announce_enter: 'no-such.wav', pin: '7', pin_prompt: 'none.wav' });
    const [one, other] = await pair(`${prefix}6`);
    await one.sendDtmf('7');
    await other.sendDtmf('7');
    await Promise.all([one.hears(TONES[1]), other.hears(TONES[0])]);
  });

  it('music plays only while one participant is alone', async () => {
    const prefix = await featureCode({ music: true });
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, `${prefix}7`);
    await one.hearsSound();
    const other = await rooms.enter(bob, `${prefix}7`, TONES[1]);
    await one.hears(TONES[1]);
    other.play(undefined);
    await eventually(async () => expect(await one.hearsWhich([220, 277, 330, 440], {})).to.deep.equal([]));
    await other.hangup();
    await one.hearsSound();
  });

  it('max_members: a full room is busy for callers, REFERCONF, added participants and SWITCHCONF', async () => {
    const prefix = await featureCode({ max_members: 2 });
    const room = `${prefix}8`;
    await pair(room);
    const { confid } = await rooms.only(2);
    const [carol, dave] = await stage.phones('carol', 'dave');
    const refused = await carol.call(room);
    expect((await refused.ended()).status).to.equal(486);
    expect((await rooms.ask('POST', `/${confid}/participants`, { to: '103' })).status).to.equal(422);
    const { outgoing, incoming } = await stage.connect(carol, dave, '104');
    const rest = await stage.rest();
    const [dialogid] = (await rest.send('LOOKUP', CALLS, { body: { from: '103' } })).json<string[]>();
    const moved = await rest.send('REFERCONF', `${CALLS}/${dialogid}`, {
      body: { by: '<sip:carol@demo.local>', referconfid: confid, response_mode: 4 },
    });
    expect(moved.status, moved.text).to.equal(422);
    await expectTalk(outgoing, incoming);
    const switched = await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body: { referto: room } });
    expect(switched.status, switched.text).to.equal(422);
    await expectTalk(outgoing, incoming);
  });

  it('record: each participant is archived under the id of the conference', async () => {
    const prefix = await featureCode({ record: 'participants' });
    const [one, other] = await pair(`${prefix}0`);
    await Promise.all([one.hears(TONES[1]), other.hears(TONES[0])]);
    const { confid } = await rooms.only(2);
    const dialogids = (await stage.dialogs()).map(({ dialogid }) => dialogid);
    await one.hangup();
    await other.hangup();
    const rest = await stage.rest();
    await eventually(async () => {
      const filter = JSON.stringify({ layer: confid });
      const records = (await rest.get(RECORDINGS, { filter })).json<{ dialogid: string; status: string }[]>();
      expect(records.map(({ dialogid }) => dialogid)).to.have.members(dialogids);
      for (const { status } of records) expect(status).to.equal('saved');
    });
  });

  it('record: the whole conference is archived with its participants, and reported by events', async () => {
    const prefix = await featureCode({ record: true });
    const received: { type: string; data: Record<string, unknown> }[] = [];
    const saved = () =>
      received.map(({ type, data: { recordid, connectionid, reclink } }) => ({
        type,
        recordid,
        connectionid,
        reclink,
      }));
    const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${(await stage.rest()).token}` },
    });
    const ready = Promise.withResolvers<void>();
    socket.on('message', (text: Buffer) => {
      const [method, body] = JSON.parse(text.toString()) as [string, (typeof received)[number]];
      if (method === 'subscribe_result') ready.resolve();
      else if (method === 'event' && body.type.startsWith('record_')) received.push(body);
    });
    await once(socket, 'open');
    socket.send(JSON.stringify(['subscribe', { qid: '1', id: 'r', events: ['callevents'], expires: 60 }]));
    await ready.promise;
    const [one, other] = await pair(`${prefix}9`);
    await one.hears(TONES[1]);
    const { confid } = await rooms.only(2);
    // The file may just have been opened.
    await observeFor(300);
    await one.hangup();
    await other.hangup();
    await rooms.expectNothing();
    const rest = await stage.rest();
    const record = await eventually(async () => {
      const [id] = (await rest.send('LOOKUP', RECORDINGS, { body: { idconn: confid } })).json<string[]>();
      const found = (await rest.get(`${RECORDINGS}/${id}`)).json<Record<string, unknown>>();
      expect(found).to.include({ idconn: confid, layer: confid, status: 'saved', domain: 'demo.local' });
      return found;
    });
    expect(record['parties']).to.have.deep.members([
      { number: '101', login: 'alice', domain: 'demo.local', uri: '<sip:101@demo.local>' },
      { number: '102', login: 'bob', domain: 'demo.local', uri: '<sip:102@demo.local>' },
    ]);
    const file = await fetch(`${stage.node.base}${RECORDINGS}/${String(record['id'])}/file`, {
      headers: { authorization: `Bearer ${rest.token}` },
    });
    expect(file.headers.get('content-type')).to.match(/^audio\//);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.length).to.equal(record['size']).and.to.be.greaterThan(2000);
    expect(createHash('sha256').update(bytes).digest('hex')).to.equal(record['sha256']);
    expect(saved()).to.deep.equal([
      { type: 'record_saved', recordid: record['id'], connectionid: confid, reclink: record['reclink'] },
    ]);
    socket.close();
  });
});
