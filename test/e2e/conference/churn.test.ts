import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { TONES, useRooms } from './support.ts';

const LOGINS = ['alice', 'bob', 'carol', 'dave'] as const;
const JOINS = 500;
/** Phones that come and go at the same time. */
const AT_ONCE = 20;

describe('coming and going', () => {
  const { stage, rooms } = useRooms({ ownNode: true });

  it(`of ${JOINS} callers leaves nothing behind, and whoever stays hears the last one`, async function () {
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
          // Some go before the media server has them in the mix.
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

  it('of a phone that vanishes: the conference can be ended all the same, and nothing is left', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await rooms.enter(alice, '*7092', TONES[0]);
    const other = await rooms.enter(bob, '*7092', TONES[1]);
    const { confid } = await rooms.only(2);
    await alice.stop({ abruptly: true });
    await rooms.ask('DELETE', `/${confid}`);
    await other.ended();
    await rooms.expectNothing();
  });

  it('of rooms: many at the same time, each hears its own', async () => {
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
