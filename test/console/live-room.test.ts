import { expect } from 'chai';
import { ApiError } from '../../rest-bridge/console/app/lib/http.ts';
import {
  hearing,
  isDeaf,
  isMuted,
  onlyModerators,
  open,
  speaking,
} from '../../rest-bridge/console/app/stores/room-commands.ts';
import {
  after,
  hears,
  type Hearing,
  peopleOf,
  type RoomEvent,
  type RoomState,
  roomState,
} from '../../rest-bridge/console/app/stores/room-state.ts';
import { LiveRoom, type RoomListener, type RoomSource } from '../../rest-bridge/console/app/stores/room.ts';
import { Random } from '../model/support/random.ts';
import { eventually } from '../support/eventually.ts';

const CONFERENCE = { confid: 'c', confroomnum: '1', uri: '<sip:*701@demo.local>', site: '', startts: 0, uris: [] };

/** The room at the node: each change has an event. */
class Node {
  readonly told: RoomEvent[] = [];
  readonly #people = new Map<string, { state: string; talking: boolean; moderator: boolean }>();
  readonly #parted = new Map<string, Hearing>();

  get ids(): string[] {
    return [...this.#people.keys()];
  }

  state(): RoomState {
    const participants = [...this.#people].map(([participantid, each]) => ({ ...about(participantid), ...each }));
    return roomState(CONFERENCE, participants, [{ from: '', to: '', enabled: true }, ...this.#parted.values()]);
  }

  enter(id: string, moderator = false): void {
    this.#people.set(id, { state: 'calling', talking: false, moderator: false });
    this.#tell('conf_state', { ...about(id), state: 'calling' });
    this.#people.set(id, { state: 'connected', talking: false, moderator: false });
    this.#tell('conf_state', { ...about(id), state: 'connected' });
    this.#people.set(id, { state: 'connected', talking: false, moderator });
    this.#tell('conf_join', { ...about(id), moderator });
  }

  leave(id: string): void {
    this.#people.delete(id);
    for (const [pair, { from, to }] of this.#parted) if (from === id || to === id) this.#parted.delete(pair);
    this.#tell('conf_leave', about(id));
  }

  talk(id: string, talking: boolean): void {
    const one = this.#people.get(id);
    if (one === undefined) return;
    one.talking = talking;
    this.#tell('conf_talking', { ...about(id), talking });
  }

  part(from: string, to: string, enabled: boolean): void {
    if (enabled) this.#parted.delete(`${from} ${to}`);
    else this.#parted.set(`${from} ${to}`, { from, to, enabled });
    this.#tell('conf_topology', { changes: [{ from, to, enabled }] });
  }

  end(): void {
    this.#tell('conf_end', {});
  }

  #tell(type: string, data: Readonly<Record<string, unknown>>): void {
    this.told.push({ type, data });
  }
}

function about(participantid: string) {
  return { participantid, callid: `call-${participantid}`, ruri: `<sip:${participantid}@demo.local>` };
}

/** The way between the node and the page: answers and events arrive when the test says so, events in their order. */
class Wire implements RoomSource {
  readonly node = new Node();
  /** Reads that have not been answered. */
  readonly asked: { answer: (state: RoomState) => void; fail: (error: unknown) => void }[] = [];
  reads = 0;
  #listener: RoomListener | undefined;

  read(): Promise<RoomState> {
    this.reads += 1;
    return new Promise((answer, fail) => void this.asked.push({ answer, fail }));
  }

  follow(listener: RoomListener): () => void {
    this.#listener = listener;
    listener.onStart();
    return () => {
      this.#listener = undefined;
    };
  }

  start(): void {
    this.#listener?.onStart();
  }

  /** The next events arrive. */
  hear(count = this.node.told.length): void {
    for (const event of this.node.told.splice(0, count)) this.#listener?.onEvent(event);
  }

  async answer(state = this.node.state()): Promise<void> {
    this.asked.shift()?.answer(state);
    await settled();
  }

  async fail(error: unknown): Promise<void> {
    this.asked.shift()?.fail(error);
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function shown({ state }: LiveRoom): object | undefined {
  return state.value && plain(state.value);
}

function plain({ participants, parted }: RoomState): object {
  return { participants, parted: [...parted].toSorted() };
}

describe('a live room of the console', () => {
  const wire = (...ids: string[]): { wire: Wire; room: LiveRoom; end: () => void } => {
    const made = new Wire();
    for (const id of ids) made.node.enter(id);
    made.node.told.length = 0;
    const room = new LiveRoom(made);
    return { wire: made, room, end: room.follow() };
  };

  it('keeps what changes while an answer is on its way that does not have it', async () => {
    const { wire: way, room, end } = wire('a', 'b');
    const old = way.node.state();
    way.node.part('a', 'b', false);
    way.node.talk('a', true);
    way.hear();
    await way.answer(old);
    expect(shown(room)).to.deep.equal(plain(way.node.state()));
    end();
  });

  it('shows a change by its event, without a read', async () => {
    const { wire: way, room, end } = wire('a', 'b');
    await way.answer();
    way.node.part('b', 'a', false);
    way.node.talk('b', true);
    way.node.talk('a', true);
    way.node.talk('b', false);
    way.hear();
    expect(shown(room)).to.deep.equal(plain(way.node.state()));
    expect(way.reads).to.equal(1);
    end();
  });

  it('shows who comes and goes at once, and reads again after it', async () => {
    const { wire: way, room, end } = wire('a', 'b');
    await way.answer();
    way.node.part('a', 'b', false);
    way.node.leave('b');
    way.node.enter('c', true);
    way.hear();
    expect(shown(room)).to.deep.equal(plain(way.node.state()));
    // A user who takes part again has missed events in between.
    way.node.part('c', 'a', false);
    way.node.told.length = 0;
    await eventually(async () => expect(way.asked).to.have.length(1));
    await way.answer();
    expect(shown(room)).to.deep.equal(plain(way.node.state()));
    await eventually(async () => expect(way.asked).to.have.length(0));
    end();
  });

  it('reads one at a time, and once more for all who ask meanwhile', async () => {
    const { wire: way, room, end } = wire('a');
    const both = Promise.all([room.reload(), room.reload()]);
    way.start();
    expect(way.asked).to.have.length(1);
    await way.answer();
    expect(way.asked).to.have.length(1);
    way.node.enter('b');
    way.node.told.length = 0;
    await way.answer();
    await both;
    expect(way.reads).to.equal(2);
    expect(shown(room)).to.deep.equal(plain(way.node.state()));
    end();
  });

  it('tries again after a failure, keeps what it shows, and does not repeat a refused request', async () => {
    const { wire: way, room, end } = wire('a');
    await way.fail(new ApiError(0, 'no answer'));
    expect(room.problem.value).to.be.instanceOf(ApiError);
    await eventually(async () => expect(way.asked).to.have.length(1));
    await way.answer();
    expect(room.problem.value).to.equal(undefined);
    const before = shown(room);
    void room.reload();
    await way.fail(new ApiError(403, 'forbidden'));
    expect(room.problem.value).to.be.instanceOf(ApiError);
    expect(shown(room)).to.deep.equal(before);
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(way.asked).to.have.length(0);
    end();
  });

  it('is gone by 404 until events come again, and for good by the end of the room', async () => {
    const { wire: way, room, end } = wire('a');
    await way.fail(new ApiError(404, 'Conference not found'));
    expect(room.gone.value).to.equal(true);
    expect(room.state.value).to.equal(undefined);
    way.node.talk('a', true);
    way.hear();
    await eventually(async () => expect(way.asked).to.have.length(1));
    await way.answer();
    expect(room.gone.value).to.equal(false);
    void room.reload();
    way.node.end();
    way.hear();
    expect(room.gone.value).to.equal(true);
    await way.answer();
    expect(room.gone.value).to.equal(true);
    expect(room.state.value).to.equal(undefined);
    end();
  });

  it('is as the node says after random changes, whenever answers and events arrive', async function () {
    this.timeout(30_000);
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new Random(seed);
      const { wire: way, room, end } = wire('a', 'b', 'c');
      let next = 0;
      /** Made at the node, and not answered yet: between the begin of the read and now. */
      let made: RoomState | undefined;
      for (let step = 0; step < 60; step += 1) {
        const ids = way.node.ids;
        const one = random.pick(ids);
        const other = random.pick(ids);
        switch (random.below(8)) {
          case 0:
            way.node.enter(`n${(next += 1)}`, random.chance(0.5));
            break;
          case 1:
            if (ids.length > 1) way.node.leave(one);
            break;
          case 2:
          case 3:
            if (one === other) way.node.talk(one, random.chance(0.5));
            else way.node.part(one, other, random.chance(0.5));
            break;
          case 4:
            if (way.asked.length > 0) made ??= way.node.state();
            break;
          case 5:
            if (made !== undefined) await way.answer(made);
            made = undefined;
            break;
          default:
            way.hear(1 + random.below(4));
        }
        if (random.chance(0.05)) void room.reload();
      }
      way.hear();
      while (way.asked.length > 0) await way.answer();
      expect(shown(room), `seed ${seed}`).to.deep.equal(plain(way.node.state()));
      end();
    }
  });
});

describe('commands of the matrix', () => {
  const seats = (...states: string[]) =>
    states.map((state, index) => ({ ...about(`p${index}`), state, moderator: index === 0, talking: false }));
  const room = (people: ReturnType<typeof seats>, commands: readonly Hearing[] = []): RoomState => {
    const inRoom = people.filter(({ state }) => state === 'connected').map(({ participantid }) => participantid);
    let state = roomState(CONFERENCE, people, []);
    // As the node carries them out.
    for (const { from, to, enabled } of commands)
      for (const one of from === '*' ? inRoom : [from])
        for (const other of to === '*' ? inRoom : [to])
          if (one !== other)
            state = after(state, { type: 'conf_topology', data: { changes: [{ from: one, to: other, enabled }] } });
    return state;
  };

  it('mute and deafen also towards those who are still being called', () => {
    const people = seats('connected', 'connected', 'ringing', 'calling');
    for (const id of ['p0', 'p2']) {
      expect(isMuted(room(people, speaking(people, id, false)), id)).to.equal(true);
      expect(isDeaf(room(people, hearing(people, id, false)), id)).to.equal(true);
      expect(isMuted(room(people, [...speaking(people, id, false), ...speaking(people, id, true)]), id)).to.equal(
        false,
      );
      expect(isDeaf(room(people), id)).to.equal(false);
    }
  });

  it('let only the moderators be heard, without changing whom others hear of them', () => {
    const people = seats('connected', 'connected', 'connected', 'ringing');
    const parted = [{ from: 'p0', to: 'p1', enabled: false }];
    const state = room(people, [...parted, ...onlyModerators(people)]);
    expect(hears(state, 'p1', 'p0')).to.equal(false);
    expect(hears(state, 'p2', 'p0')).to.equal(true);
    for (const id of ['p1', 'p2', 'p3']) expect(isMuted(state, id), id).to.equal(true);
    expect(room(people, [...onlyModerators(people), ...open(people)]).parted.size).to.equal(0);
  });

  it('nobody is muted or deaf alone in a room', () => {
    const people = seats('connected');
    expect([isMuted(room(people), 'p0'), isDeaf(room(people), 'p0')]).to.deep.equal([false, false]);
  });

  it('participants have names of their own, also with the same number, with markup, and of 10,000 characters', () => {
    const uris = ['<sip:101@demo.local>', '<sip:101@demo.local>', `<sip:${'9'.repeat(10_000)}@demo.local>`];
    const people = [...uris, '<sip:%3Cb%3E@demo.local>'].map((ruri, index) => ({
      ...seats('connected')[0],
      ruri,
      participantid: `p${index}`,
    }));
    const labels = peopleOf(roomState(CONFERENCE, people as never, [])).map(({ label }) => label);
    expect(labels).to.deep.equal(['101', '101 (2)', `${'9'.repeat(39)}…`, '<b>']);
  });
});
