import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { level, shareAt } from '../phones/media/tone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const RULES = '/rest/v1/domain/recordingrules';
const RECORDINGS = '/rest/v1/domain/recordings';
/** Hertz. */
const [ALICE, BOB, CAROL] = [500, 900, 1300] as const;

interface Recording {
  readonly id: string;
  readonly idconn: string;
  readonly dialogid: string;
  readonly layer: string;
  readonly status: string;
  readonly reason: string;
  readonly length: number;
  readonly size: number;
  readonly sha256: string;
  readonly reclink: string;
  readonly parties: readonly { readonly side: string; readonly channel?: number; readonly number: string }[];
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The samples of one of `channels` interleaved channels of a WAV file. */
function channel(wav: Buffer, which: 0 | 1, channels = 2): Int16Array {
  expect(wav.toString('latin1', 0, 4)).to.equal('RIFF');
  expect(wav.readUInt16LE(22), 'channels').to.equal(channels);
  expect(wav.readUInt32LE(24), 'rate').to.equal(8000);
  const samples = new Int16Array(Math.floor((wav.length - 44) / (2 * channels)));
  for (let at = 0; at < samples.length; at += 1) samples[at] = wav.readInt16LE(44 + (at * channels + which) * 2);
  return samples;
}

/** Share of a tone in the part of a sound between two fractions of its length. */
function share(samples: Int16Array, tone: number, from: number, to: number): number {
  return shareAt(samples.slice(Math.floor(samples.length * from), Math.floor(samples.length * to)), tone);
}

describe('recording of calls', () => {
  const stage = useStage();
  let rest: RestClient;

  async function removeAll(): Promise<void> {
    for (const { id } of (await rest.get(RULES)).json<{ id: string }[]>()) await rest.send('DELETE', `${RULES}/${id}`);
    for (const { id } of (await rest.get(RECORDINGS)).json<Recording[]>())
      await rest.send('DELETE', `${RECORDINGS}/${id}`);
  }

  // Other test files record on the same node.
  beforeEach(async () => {
    rest = await stage.rest();
    await removeAll();
  });
  afterEach(removeAll);

  async function rule(fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const answer = await rest.send('POST', RULES, { body: fields });
    expect(answer.status, answer.text).to.equal(200);
  }

  async function saved(count = 1): Promise<Recording[]> {
    return eventually(async () => {
      const all = (await rest.get(`${RECORDINGS}?order=["startts"]`)).json<Recording[]>();
      expect(all.map(({ status }) => status)).to.deep.equal(Array.from({ length: count }, () => 'saved'));
      return all;
    }, 4000);
  }

  async function fileOf({ id }: Recording): Promise<Buffer> {
    const response = await fetch(`${stage.node.base}${RECORDINGS}/${id}/file`, { headers: rest.authorization });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('audio/wav');
    return Buffer.from(await response.arrayBuffer());
  }

  async function setup(dialogid: string, body: Readonly<Record<string, unknown>>) {
    return rest.send('SETUP_RECORD', `${CALLS}/${dialogid}`, { body });
  }

  it('keeps each party on its own channel, with length, hash and parties', async () => {
    await rule();
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid, inviteid } = await stage.dialog();
    outgoing.play(ALICE);
    incoming.play(BOB);
    await Promise.all([outgoing.hears(BOB), incoming.hears(ALICE)]);
    await pause(400);
    await outgoing.hangup();
    const [recording] = await saved();
    if (recording === undefined) throw new Error('no recording');
    expect(recording).to.include({ idconn: inviteid, dialogid, layer: '', reason: '' });
    expect(recording.parties.map(({ side, channel: at, number }) => [side, at, number])).to.deep.equal([
      ['a', 0, '101'],
      ['b', 1, '102'],
    ]);
    const wav = await fileOf(recording);
    expect(wav.length).to.equal(recording.size);
    expect(createHash('sha256').update(wav).digest('hex')).to.equal(recording.sha256);
    expect(recording.length).to.be.within(400, 4000);
    expect(share(channel(wav, 0), ALICE, 0.6, 0.95), 'alice is left').to.be.above(0.5);
    expect(share(channel(wav, 1), BOB, 0.6, 0.95), 'bob is right').to.be.above(0.5);
  });

  it('records no call without a matching rule', async () => {
    await rule({ direction: 'out', number_pattern: '103' });
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const refused = await setup(dialogid, { command: 'pause' });
    expect(refused.status).to.equal(422);
    expect(refused.json()).to.deep.include({
      error_code: 1405,
      error_details: { field: 'command', reason: 'the call is not recorded' },
    });
    expect((await setup(dialogid, { command: 'resume' })).status).to.equal(422);
    await outgoing.hangup();
    await stage.expectNoDialog();
    expect((await rest.get(RECORDINGS)).json()).to.deep.equal([]);
  });

  it('writes silence while paused', async () => {
    await rule();
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    outgoing.play(ALICE);
    await incoming.hears(ALICE);
    await pause(500);
    const paused = await setup(dialogid, { command: 'pause' });
    expect(paused.json()).to.deep.equal({ result: 'ok', dialogid });
    expect((await setup(dialogid, { command: 'pause' })).status, 'paused twice').to.equal(422);
    await pause(600);
    expect((await setup(dialogid, { command: 'resume' })).status).to.equal(200);
    expect((await setup(dialogid, { command: 'resume' })).status, 'resumed twice').to.equal(422);
    await pause(500);
    await outgoing.hangup();
    const [recording] = await saved();
    const left = channel(await fileOf(recording as Recording), 0);
    // Quiet stretches of at least 400 ms after the first sound: the pause.
    const levels = Array.from({ length: Math.floor(left.length / 800) }, (_, at) =>
      level(left.slice(at * 800, (at + 1) * 800)),
    );
    const audible = levels.map((each) => (each > 500 ? 'x' : '.')).join('');
    expect(audible).to.match(/xx\.{4,8}xx/);
  });

  it('is paused by participants, and by no other user', async () => {
    await rule();
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const own = `/rest/v1/user/sip/calls/${dialogid}`;
    const foreign = await (await stage.rest('dave')).send('SETUP_RECORD', own, { body: { command: 'pause' } });
    expect(foreign.status).to.equal(404);
    expect(foreign.json()).to.include({ error_code: 1413 });
    const paused = await (await stage.rest('bob')).send('SETUP_RECORD', own, { body: { command: 'pause' } });
    expect(paused.json(), paused.text).to.deep.equal({ result: 'ok', dialogid });
    const dry = await rest.send('SETUP_RECORD', `${CALLS}/${dialogid}`, {
      body: { command: 'resume' },
      query: { dry_run: true },
    });
    expect(dry.json()).to.include({ dry_run: true, operation: 'setup_record' });
    expect((await setup(dialogid, { command: 'pause' })).status, 'still paused').to.equal(422);
    await outgoing.hangup();
    await saved();
  });

  it('is started by resume where the rule allows it', async () => {
    await rule({ record: false });
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    incoming.play(BOB);
    expect((await setup(dialogid, { command: 'pause' })).status).to.equal(422);
    const resumed = await setup(dialogid, { command: 'resume' });
    expect(resumed.status, resumed.text).to.equal(200);
    await pause(400);
    await outgoing.hangup();
    const [recording] = await saved();
    expect(share(channel(await fileOf(recording as Recording), 1), BOB, 0.2, 0.9)).to.be.above(0.5);
  });

  it('is neither paused nor started where the rule forbids it', async () => {
    await rule({ priority: 1, sipuser_id: null, number_pattern: '102', record: false, permit_pause: false });
    await rule({ priority: 2, permit_pause: false });
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const off = await stage.connect(alice, bob, '102');
    const first = await stage.dialog();
    const answer = await setup(first.dialogid, { command: 'resume' });
    expect(answer.status).to.equal(422);
    expect(answer.json<{ error_details: object }>().error_details).to.deep.equal({
      field: 'command',
      reason: 'the recording rule does not permit it',
    });
    await off.outgoing.hangup();
    await stage.expectNoDialog();
    const on = await stage.connect(alice, carol, '103');
    const second = await stage.dialog();
    expect((await setup(second.dialogid, { command: 'pause' })).status).to.equal(422);
    await pause(200);
    await on.outgoing.hangup();
    await saved();
  });

  it('continues in the transferred call without a gap, with a file for each of the two calls', async () => {
    await rule();
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    outgoing.play(ALICE);
    await incoming.hears(ALICE);
    const by = '<sip:102@demo.local>';
    const transferred = rest.send('REFER', `${CALLS}/${dialogid}`, { body: { by, referto: '103', response_mode: 4 } });
    const third = await carol.incoming();
    await third.answer();
    third.play(CAROL);
    const answer = await transferred;
    expect(answer.json(), answer.text).to.include({ result: 'ok' });
    await Promise.all([outgoing.hears(CAROL), third.hears(ALICE)]);
    await pause(300);
    await outgoing.hangup();
    const all = await eventually(async () => {
      const list = (await rest.get(`${RECORDINGS}?order=["startts"]`)).json<Recording[]>();
      expect(list.every(({ status }) => status !== 'recording')).to.equal(true);
      const last = list.find(({ parties }) => parties.some(({ number }) => number === '103'));
      expect(last?.status).to.equal('saved');
      return list;
    }, 4000);
    const [first, last] = [all.find((each) => each.dialogid === dialogid), all.at(-1)];
    expect(share(channel(await fileOf(first as Recording), 0), ALICE, 0.5, 0.9), 'before').to.be.above(0.5);
    const wav = await fileOf(last as Recording);
    // Sound at the start of the new call is recorded, too.
    expect(share(channel(wav, 0), ALICE, 0.1, 0.9), 'alice after').to.be.above(0.5);
    expect(share(channel(wav, 1), CAROL, 0.6, 0.9), 'carol after').to.be.above(0.5);
  });

  it('adds layers that end by themselves, by removal, and with their leg', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid, legs } = await stage.dialog();
    outgoing.play(ALICE);
    incoming.play(BOB);
    await outgoing.hears(BOB);
    const added = await setup(dialogid, { command: 'add' });
    expect(added.json(), added.text).to.deep.equal({ result: 'ok', dialogid, layer: 'default' });
    const second = await setup(dialogid, { command: 'add', layer: 'short', side: 'b', timeout: 400 });
    expect(second.status, second.text).to.equal(200);
    expect((await setup(dialogid, { command: 'add', layer: 'last', callid: legs[1]?.callid })).status).to.equal(200);
    await eventually(async () => {
      const list = (await rest.get(`${RECORDINGS}?filter={"layer":"short","status":"saved"}`)).json<Recording[]>();
      expect(list.map(({ length }) => length > 200 && length < 1500)).to.deep.equal([true]);
    }, 3000);
    expect((await setup(dialogid, { command: 'remove', layer: 'short' })).status, 'gone by itself').to.equal(422);
    const removed = await setup(dialogid, { command: 'remove' });
    expect(removed.json(), removed.text).to.deep.equal({ result: 'ok', dialogid, layer: 'default' });
    await outgoing.hangup();
    const all = await saved(3);
    expect(all.map(({ layer }) => layer).toSorted()).to.deep.equal(['default', 'last', 'short']);
    for (const each of all) {
      const wav = await fileOf(each);
      const channels = each.parties.map(({ channel: at }) => at);
      if (each.layer === 'default') {
        expect(channels).to.deep.equal([0, 1]);
        expect(share(channel(wav, 0), ALICE, 0.3, 0.9), 'alice is left').to.be.above(0.5);
        expect(share(channel(wav, 1), BOB, 0.3, 0.9), 'bob is right').to.be.above(0.5);
      } else {
        expect(channels, each.layer).to.deep.equal([undefined, 0]);
        expect(share(channel(wav, 0, 1), BOB, 0.3, 0.9), `${each.layer}: bob`).to.be.above(0.5);
        expect(share(channel(wav, 0, 1), ALICE, 0.3, 0.9), `${each.layer}: not alice`).to.be.below(0.05);
      }
    }
  });

  it('a layer of one side records that party only, and follows it through a transfer', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    outgoing.play(ALICE);
    incoming.play(BOB);
    await Promise.all([outgoing.hears(BOB), incoming.hears(ALICE)]);
    for (const side of ['a', 'b']) {
      const added = await setup(dialogid, { command: 'add', layer: side, side });
      expect(added.status, added.text).to.equal(200);
    }
    // The concurrent recording of the whole call still has both sides.
    expect((await setup(dialogid, { command: 'add', layer: 'both' })).status).to.equal(200);
    // Long beside the silence of the transfer, also on a busy machine.
    await pause(2000);
    const by = '<sip:102@demo.local>';
    const transferred = rest.send('REFER', `${CALLS}/${dialogid}`, { body: { by, referto: '103', response_mode: 4 } });
    const third = await carol.incoming();
    await third.answer();
    third.play(CAROL);
    expect((await transferred).json()).to.include({ result: 'ok' });
    await Promise.all([outgoing.hears(CAROL), third.hears(ALICE)]);
    await pause(300);
    await outgoing.hangup();
    const files = new Map<string, Buffer>();
    for (const each of await saved(3)) files.set(each.layer, await fileOf(each));
    /** Tenths of a second in which a tone dominates: FreeSWITCH inserts some silence. */
    const heard = (layer: string, tone: number, channels = 1): number => {
      const samples = channel(files.get(layer) as Buffer, 0, channels);
      const tenths = Array.from({ length: Math.floor(samples.length / 800) }, (_, at) =>
        shareAt(samples.slice(at * 800, (at + 1) * 800), tone),
      );
      return tenths.filter((each) => each > 0.5).length / tenths.length;
    };
    expect([heard('a', BOB), heard('a', CAROL), heard('b', ALICE)], 'nobody else').to.deep.equal([0, 0, 0]);
    expect(heard('a', ALICE), 'alice, in both calls').to.be.above(0.7);
    expect(heard('b', BOB), 'bob, until he was out').to.be.above(0.7);
    expect(heard('both', ALICE, 2), 'left in that of both').to.be.above(0.7);
  });

  it('has one layer for each name, also when it is added several times at once', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    outgoing.play(ALICE);
    incoming.play(BOB);
    await outgoing.hears(BOB);
    const add = { command: 'add', layer: 'twice' };
    const added = await Promise.all([1, 2, 3, 4].map(() => setup(dialogid, add)));
    expect(added.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect((await setup(dialogid, { command: 'remove', layer: 'twice' })).status).to.equal(200);
    // No part of it continues after its removal.
    await eventually(async () => {
      const going = await rest.get(`${RECORDINGS}?filter={"status":"recording"}`);
      expect(going.json()).to.deep.equal([]);
    });
    await outgoing.hangup();
  });

  it('names an invalid field', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const refusals = [
      [{ command: 'stop' }, 400, 'command'],
      [{}, 400, 'command'],
      [{ command: 'add', timeout: 0 }, 400, 'timeout'],
      [{ command: 'add', layer: '' }, 400, 'layer'],
      [{ command: 'add', callid: 'nobody@nowhere' }, 422, 'callid'],
      [{ command: 'remove', layer: 'none' }, 422, 'layer'],
      [{ command: 'pause' }, 422, 'command'],
      [{ command: 'resume' }, 422, 'command'],
    ] as const;
    for (const [body, status, field] of refusals) {
      for (const dry_run of [true, false]) {
        const answer = await rest.send('SETUP_RECORD', `${CALLS}/${dialogid}`, { body, query: { dry_run } });
        expect(answer.status, `${JSON.stringify(body)}: ${answer.text}`).to.equal(status);
        expect(answer.json<{ error_details: { field: string } }>().error_details.field).to.equal(field);
      }
    }
    expect((await setup('nothing', { command: 'pause' })).status).to.equal(404);
    await outgoing.hangup();
  });

  it('serves ranges of the file, downloads, and look-up by connection', async () => {
    await rule();
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    await pause(300);
    await outgoing.hangup();
    const [recording] = await saved();
    if (recording === undefined) throw new Error('no recording');
    const url = `${stage.node.base}${RECORDINGS}/${recording.id}/file`;
    const part = await fetch(url, { headers: { ...rest.authorization, range: 'bytes=8-11' } });
    expect(part.status).to.equal(206);
    expect(part.headers.get('content-range')).to.equal(`bytes 8-11/${recording.size}`);
    expect(await part.text()).to.equal('WAVE');
    const beyond = await fetch(url, { headers: { ...rest.authorization, range: `bytes=${recording.size}-` } });
    expect(beyond.status).to.equal(416);
    const download = await fetch(`${url}?attachment=true`, { headers: rest.authorization });
    expect(download.headers.get('content-disposition')).to.contain(`${recording.id}.wav`);
    await download.arrayBuffer();
    const found = await rest.send('LOOKUP', RECORDINGS, { body: { idconn: recording.idconn } });
    expect(found.json()).to.deep.equal([recording.id]);
    expect((await rest.send('LOOKUP', RECORDINGS, { body: { idconn: 'none' } })).status).to.equal(404);
    const byLink = await rest.send('LOOKUP', RECORDINGS, { body: { reclink: recording.reclink } });
    expect(byLink.json<string[]>(), byLink.text).to.deep.equal([recording.id]);
    expectError(await rest.send('LOOKUP', RECORDINGS, { body: {} }), 400, 1400);
    const foreign = await stage.rest('alice');
    expect((await foreign.get(`${RECORDINGS}/${recording.id}`)).status, 'no right to the archive').to.equal(403);
  });
});
