import { expect } from 'chai';
import { requirePeer } from '../../phones/peers.ts';
import { runSipp } from '../../phones/sipp.ts';
import { eventually } from '../../support/eventually.ts';
import { freeSipPort } from '../../support/ports.ts';
import { TONES, useRooms } from './support.ts';

const LOGINS = ['alice', 'bob', 'carol', 'dave'] as const;
const JOINS = 500;
/** Phones that join and leave at the same time. */
const AT_ONCE = 20;

describe('participants that join and leave a conference', () => {
  const { stage, rooms } = useRooms({ ownNode: true });

  it(`${JOINS} joins and leaves free all resources, and the remaining participant hears the last one`, async function () {
    this.timeout(120_000);
    const [dave] = await stage.phones('dave');
    const before = await stage.node.health();
    const stays = await rooms.enter(dave, '*7091', TONES[7]);
    const { confid } = await rooms.only(1);
    const phones = [];
    for (let index = 0; index < AT_ONCE; index += 1) {
      phones.push(await stage.phone(LOGINS[index % 3] ?? 'alice', { unregistered: true }));
    }
    let left = JOINS;
    await Promise.all(
      phones.map(async (phone, index) => {
        while (left > 0) {
          left -= 1;
          const call = await phone.call('*7091');
          await call.answered();
          // Some leave before the media server has added them to the mix.
          if (index % 4 === 0) await call.hears(TONES[7]);
          await call.hangup();
        }
      }),
    );
    await rooms.only(1);
    const { participants, topology } = await read(confid);
    expect(participants).to.have.length(1);
    expect(topology).to.have.length(1);
    const last = await rooms.enter(phones[0] ?? dave, '*7091', TONES[0]);
    await Promise.all([last.hears(TONES[7]), stays.hears(TONES[0])]);
    await last.hangup();
    await stays.hangup();
    await rooms.expectNothing();
    await eventually(async () => {
      const { counts } = await stage.node.health();
      for (const name of ['dialogs', 'conferences', 'endpoints', 'runs']) {
        expect(counts[name], name).to.equal(before.counts[name]);
      }
      const media = Object.entries(counts).filter(([name]) => /^media_(rtpSockets|channels|conferences)/.test(name));
      for (const [name, value] of media) expect(value, name).to.equal(before.counts[name]);
    }, 10_000);
  });

  it('concurrent additions, removals, topology commands and room ends leave nothing behind', async function () {
    this.timeout(120_000);
    const [carol] = await stage.phones('carol');
    const before = await stage.node.health();
    const ids = async (confid: string) => {
      const answer = await rooms.ask('GET', `/${confid}/participants`);
      return answer.status === 200 ? answer.json<{ participantid: string }[]>().map((each) => each.participantid) : [];
    };
    /** A request to a room that is ending: done or not found, and nothing else. */
    const statuses = new Map<number, number>();
    const ask = async (method: string, path: string, body?: unknown) => {
      const { status, text } = await rooms.ask(method, path, body);
      expect([200, 404, 422], `${method} ${path}: ${status} ${text}`).to.include(status);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      return { status, text };
    };
    let working = true;
    const answering = (async () => {
      for (let turn = 0; working; turn += 1) {
        const call = await carol.incoming(100).catch(() => undefined);
        // The call may have been cancelled already.
        if (call?.live !== true) continue;
        call.ring();
        if (turn % 3 === 0) await call.answer().catch(() => undefined);
        else if (turn % 3 === 1) call.reject(486);
      }
    })();
    const callers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => stage.phone(LOGINS[index % 2] ?? 'alice', { unregistered: true })),
    );
    const coming = callers.map(async (phone) => {
      for (let turn = 0; turn < 20; turn += 1) {
        const call = await phone.call('*7097');
        const inside = await call.answered().then(
          () => true,
          () => false,
        );
        // The room ended before this phone was in: it is refused, and never left without an answer.
        if (!inside) {
          expect(call.end?.status, JSON.stringify(call.end)).to.be.within(400, 499);
          continue;
        }
        if (turn % 4 === 0) await call.hangup();
        else await call.ended(400).catch(() => undefined);
        if (call.live) await call.hangup();
      }
    });
    const operating = Array.from({ length: 3 }, async (_, worker) => {
      for (let turn = 0; working; turn += 1) {
        const [room] = await rooms.list();
        if (room === undefined) continue;
        const all = await ids(room.confid);
        const [first = 'none', second = 'none'] = all.toSorted();
        const kind = (turn * 3 + worker) % 7;
        if (kind === 0) {
          const added = await ask('POST', `/${room.confid}/participants`, { to: '103' });
          const { participantid } = JSON.parse(added.text) as { participantid?: string };
          if (turn % 2 === 0) await ask('DELETE', `/${room.confid}/participants/${participantid ?? 'none'}`);
        } else if (kind === 1) await ask('DELETE', `/${room.confid}/participants/${first}`);
        else if (kind === 6 && turn % 3 === 0) {
          await Promise.all([
            ask('POST', `/${room.confid}/participants`, { to: '103' }),
            ask('DELETE', `/${room.confid}`),
            ask('POST', `/${room.confid}/participants`, { to: '103' }),
          ]);
        } else if (first !== second) {
          await ask('POST', `/${room.confid}/topology`, [{ from: first, to: second, enabled: turn % 2 === 0 }]);
        }
      }
    });
    await Promise.all(coming);
    working = false;
    await Promise.all([...operating, answering]);
    for (const { confid } of await rooms.list()) await rooms.ask('DELETE', `/${confid}`);
    await rooms.expectNothing();
    expect(statuses.get(200), JSON.stringify([...statuses])).to.be.greaterThan(20);
    await eventually(async () => {
      const { counts } = await stage.node.health();
      for (const name of ['dialogs', 'endpoints', 'runs', 'media_channels', 'media_rtpSockets']) {
        expect(counts[name], name).to.equal(before.counts[name]);
      }
    }, 10_000);
  });

  it('a conference with a vanished phone can be ended, and frees its resources', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await rooms.enter(alice, '*7092', TONES[0]);
    const other = await rooms.enter(bob, '*7092', TONES[1]);
    const { confid } = await rooms.only(2);
    await alice.stop({ abruptly: true });
    await rooms.ask('DELETE', `/${confid}`);
    await other.ended();
    await rooms.expectNothing();
  });

  it('SIPp calls that are cancelled or hung up in a room leave nothing behind', async function () {
    const program = requirePeer(this, 'sipp');
    const [dave] = await stage.phones('dave');
    const stays = await rooms.enter(dave, '*7098', TONES[7]);
    const common = { server: stage.node.sip, rate: 20, keys: { domain: 'demo.local', number: '*7098' } };
    const results = await Promise.all(
      (['call', 'give-up'] as const).map(async (scenario, index) => {
        const username = LOGINS[index] ?? '';
        const password = `demo-${username}`;
        return runSipp(program, { ...common, scenario, calls: 10, username, password, port: await freeSipPort() });
      }),
    );
    for (const { code, errors } of results) expect(code, errors).to.equal(0);
    await rooms.only(1);
    await stays.hangup();
    await rooms.expectNothing();
  });

  it('concurrent rooms do not hear each other', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const numbers = ['*7093', '*7094', '*7095', '*7096'];
    for (const [index, number] of numbers.entries()) {
      const one = await rooms.enter(alice, number, TONES[index]);
      const other = await rooms.enter(bob, number);
      await other.hears(TONES[index] ?? 0);
      await one.hearsNot(TONES[(index + 1) % numbers.length] ?? 0, { forMs: 100 });
    }
    expect(await rooms.list()).to.have.length(numbers.length);
  });

  const read = async (confid: string) => ({
    participants: await rooms.participants({ confid }),
    topology: (await rooms.ask('GET', `/${confid}/topology`)).json<unknown[]>(),
  });
});
