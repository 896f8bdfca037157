import { expect } from 'chai';
import type { PhoneCall } from '../../phones/phone-call.ts';
import { eventually } from '../../support/eventually.ts';
import { expectError } from '../expectations.ts';
import { type Rooms, TONES, type TopologyEntry, useRooms } from './support.ts';

const OPEN: TopologyEntry = { from: '', to: '', enabled: true };
const LOGINS = ['alice', 'bob', 'carol', 'dave'] as const;

/** A participant with its phone. */
interface Voice {
  readonly call: PhoneCall;
  readonly tone: number;
  readonly participantid: string;
}

/** Enters a room with one phone for each tone; an account has two phones. */
async function gather(rooms: Rooms, number: string, size: number): Promise<Voice[]> {
  const voices: Voice[] = [];
  for (const [index, tone] of TONES.slice(0, size).entries()) {
    const login = LOGINS[index % LOGINS.length] ?? 'alice';
    const phone = await rooms.stage.phone(login, { unregistered: index >= LOGINS.length });
    const call = await rooms.enter(phone, number, tone);
    voices.push({ call, tone, participantid: await newcomer(rooms, voices) });
  }
  return voices;
}

async function newcomer(rooms: Rooms, known: readonly Voice[]): Promise<string> {
  const conference = await rooms.only(known.length + 1);
  const ids = new Set(known.map(({ participantid }) => participantid));
  const fresh = (await rooms.participants(conference)).filter(({ participantid }) => !ids.has(participantid));
  expect(fresh).to.have.length(1);
  return fresh[0]?.participantid ?? '';
}

/** The topology rules of the specification, as a model: the pairs separated by commands. */
class Model {
  readonly parted = new Set<string>();

  apply(commands: readonly TopologyEntry[], everybody: readonly string[]): void {
    for (const { from, to, enabled } of commands) {
      for (const speaker of from === '*' ? everybody : [from]) {
        for (const listener of to === '*' ? everybody : [to]) {
          if (speaker === listener) continue;
          if (enabled) this.parted.delete(`${speaker} ${listener}`);
          else this.parted.add(`${speaker} ${listener}`);
        }
      }
    }
  }

  hears(listener: string, speaker: string): boolean {
    return listener !== speaker && !this.parted.has(`${speaker} ${listener}`);
  }
}

/** Every phone hears exactly the expected parties: the whole matrix, at once. */
async function expectMatrix(voices: readonly Voice[], model: Model, what: string): Promise<void> {
  const tones = voices.map(({ tone }) => tone);
  await eventually(async () => {
    const rows = await Promise.all(voices.map(({ call }) => call.hearsWhich(tones)));
    const wanted = voices.map((listener) =>
      voices.flatMap((speaker) => (model.hears(listener.participantid, speaker.participantid) ? [speaker.tone] : [])),
    );
    expect(rows, what).to.deep.equal(wanted);
  });
}

function shown(entries: readonly TopologyEntry[]): Set<string> {
  expect(entries[0]).to.deep.equal(OPEN);
  return new Set(
    entries.slice(1).map(({ from, to, enabled }) => {
      expect(enabled).to.equal(false);
      return `${from} ${to}`;
    }),
  );
}

/** Pseudo-random numbers, the same in every run (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe('/uc/conferences/<confid>/topology', () => {
  const { stage, rooms } = useRooms();

  it('random commands with eight phones: each phone hears exactly the parties of the model', async function () {
    this.timeout(60_000);
    const voices = await gather(rooms, '*7061', 8);
    const { confid } = await rooms.only(8);
    const ids = voices.map(({ participantid }) => participantid);
    const model = new Model();
    await expectMatrix(voices, model, 'before any command');
    const next = random(20_261_121);
    for (let round = 0; round < 6; round += 1) {
      const pick = (): string => (next(6) === 0 ? '*' : (ids[next(ids.length)] ?? '*'));
      const commands = Array.from({ length: 1 + next(12) }, () => {
        const [from, to] = [pick(), pick()];
        return { from, to: from === to && from !== '*' ? '*' : to, enabled: next(3) === 0 };
      });
      const entries = await rooms.topology(confid, commands);
      model.apply(commands, ids);
      expect(shown(entries), `round ${round}`).to.deep.equal(model.parted);
      await expectMatrix(voices, model, `round ${round}: ${JSON.stringify(commands)}`);
    }
    await rooms.topology(confid, [{ from: '*', to: '*', enabled: true }]);
    await expectMatrix(voices, new Model(), 'everybody hears everybody again');
  });

  it('random commands while phones join and leave: the topology equals the model', async function () {
    this.timeout(60_000);
    const voices = await gather(rooms, '*7066', 6);
    const { confid } = await rooms.only(6);
    const model = new Model();
    const next = random(7);
    for (let round = 0; round < 8; round += 1) {
      const ids = voices.map(({ participantid }) => participantid);
      const pick = (): string => (next(6) === 0 ? '*' : (ids[next(ids.length)] ?? '*'));
      const commands = Array.from({ length: 1 + next(6) }, () => {
        const [from, to] = [pick(), pick()];
        return { from, to: from === to && from !== '*' ? '*' : to, enabled: next(3) === 0 };
      });
      model.apply(commands, ids);
      expect(shown(await rooms.topology(confid, commands)), `round ${round}`).to.deep.equal(model.parted);
      if (round % 2 === 0) {
        const [gone] = voices.splice(next(voices.length), 1);
        await gone?.call.hangup();
        for (const pair of model.parted) {
          if (pair.split(' ').includes(gone?.participantid ?? '')) model.parted.delete(pair);
        }
        await rooms.only(voices.length);
      } else {
        const tone = TONES.find((each) => voices.every((voice) => voice.tone !== each)) ?? 0;
        const phone = await stage.phone('dave', { unregistered: true });
        const call = await rooms.enter(phone, '*7066', tone);
        voices.push({ call, tone, participantid: await newcomer(rooms, voices) });
      }
      const entries = (await rooms.ask('GET', `/${confid}/topology`)).json<TopologyEntry[]>();
      expect(shown(entries), `round ${round}, after coming or going`).to.deep.equal(model.parted);
      await expectMatrix(voices, model, `round ${round}: ${JSON.stringify(commands)}`);
    }
  });

  it('a late participant hears all and is heard by all, despite earlier commands for all', async () => {
    const voices = await gather(rooms, '*7062', 3);
    const { confid } = await rooms.only(3);
    const silence = [{ from: '*', to: '*', enabled: false }];
    const entries = await rooms.topology(confid, silence);
    const model = new Model();
    model.apply(
      silence,
      voices.map(({ participantid }) => participantid),
    );
    expect(shown(entries)).to.deep.equal(model.parted);
    await expectMatrix(voices, model, 'silence');
    const dave = await stage.phone('dave');
    const call = await rooms.enter(dave, '*7062', TONES[3]);
    voices.push({ call, tone: TONES[3], participantid: await newcomer(rooms, voices) });
    await expectMatrix(voices, model, 'with a late one');
  });

  it('a participant separated while it rings neither hears nor is heard from its first packet', async () => {
    const voices = await gather(rooms, '*7063', 2);
    const { confid } = await rooms.only(2);
    const dave = await stage.phone('dave');
    const { participantid } = (await rooms.ask('POST', `/${confid}/participants`, { to: '104' })).json<{
      participantid: string;
    }>();
    const called = await dave.incoming();
    called.ring();
    const commands = [
      { from: participantid, to: '*', enabled: false },
      { from: '*', to: participantid, enabled: false },
    ];
    expect(shown(await rooms.topology(confid, commands)).size).to.equal(4);
    called.play(TONES[3]);
    const unheard = Promise.all(voices.map(({ call }) => call.hearsNot(TONES[3], { forMs: 600 })));
    const deaf = Promise.all(voices.map(({ tone }) => called.hearsNot(tone, { forMs: 600 })));
    await called.answer();
    await Promise.all([unheard, deaf]);
    await rooms.topology(confid, [{ from: '*', to: '*', enabled: true }]);
    await Promise.all([called.hears(voices[0]?.tone ?? 0), voices[0]?.call.hears(TONES[3])]);
  });

  it('a list of commands takes effect as a whole or not at all', async () => {
    const voices = await gather(rooms, '*7064', 2);
    const { confid } = await rooms.only(2);
    const [a = '', b = ''] = voices.map(({ participantid }) => participantid);
    const path = `/${confid}/topology`;
    expect((await rooms.ask('GET', path)).json()).to.deep.equal([OPEN]);
    const refused = async (commands: unknown, status: number, code: number, field: string) => {
      const error = expectError(await rooms.ask('POST', path, commands), status, code);
      expect(error.error_details?.field).to.equal(field);
      expect((await rooms.ask('GET', path)).json()).to.deep.equal([OPEN]);
    };
    const cut = { from: a, to: b, enabled: false };
    await refused([cut, { from: 'nobody', to: b, enabled: false }], 422, 1405, '1.from');
    await refused([cut, { from: a, to: a, enabled: false }], 422, 1405, '1.to');
    await refused([cut, { from: '', to: '', enabled: false }], 422, 1405, '1.enabled');
    await refused([cut, { from: a, to: b }], 400, 1400, '1.enabled');
    await refused([{ ...cut, until: 5 }], 400, 1400, '0.until');
    expectError(await rooms.ask('POST', path, { from: a, to: b, enabled: false }), 400, 1400);
    expectError(await rooms.ask('POST', '/conf-none/topology', []), 404, 1404);
    // The answer can be sent back.
    const entries = await rooms.topology(confid, [cut]);
    expect(await rooms.topology(confid, entries)).to.deep.equal([OPEN, cut]);
    expect(await rooms.topology(confid, [{ ...cut, enabled: true }])).to.deep.equal([OPEN]);
  });

  it('a departed participant is removed from the topology', async () => {
    const voices = await gather(rooms, '*7065', 3);
    const { confid } = await rooms.only(3);
    const [a = '', b = '', c = ''] = voices.map(({ participantid }) => participantid);
    await rooms.topology(confid, [
      { from: a, to: b, enabled: false },
      { from: c, to: a, enabled: false },
    ]);
    await voices[0]?.call.hangup();
    await eventually(async () => expect((await rooms.ask('GET', `/${confid}/topology`)).json()).to.deep.equal([OPEN]));
  });
});
