import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { Phone } from '../phones/phone.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

/** Pseudo-random numbers, the same in every run (mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Rejects, answers, or rings without end; each may fail because of the other side. */
async function behave(call: IncomingCall, random: (below: number) => number): Promise<void> {
  if (random(2) === 0 && call.live) call.ring();
  await delay(random(40));
  if (!call.live) return;
  const choice = random(4);
  if (choice === 0) call.reject(486);
  else if (choice < 3) await call.answer().catch(() => {});
}

describe('hang-ups at random moments', () => {
  const stage = useStage();

  /** Every call to the phone behaves at random, until `stop`. */
  function occupy(phone: Phone, random: (below: number) => number): { stop(): void; calls: IncomingCall[] } {
    const calls: IncomingCall[] = [];
    let open = true;
    const take = async (): Promise<void> => {
      while (open) {
        const call = await phone.incoming(500).catch(() => undefined);
        if (call === undefined) continue;
        calls.push(call);
        void behave(call, random);
      }
    };
    void take();
    return {
      calls,
      stop: () => {
        open = false;
      },
    };
  }

  it("a caller's hang-up leaves no party and no dialog behind", async function () {
    this.timeout(60_000);
    const random = randomNumbers(1);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const called = occupy(bob, random);
    for (let round = 0; round < 25; round += 1) {
      const pair = await Promise.all([alice.call('102'), alice.call('102')]);
      await Promise.all(
        pair.map(async (call) => {
          await delay(random(90));
          await call.hangup();
        }),
      );
    }
    await stage.expectNoDialog();
    called.stop();
    for (const call of called.calls) await call.ended();
  });

  it("a deleted POST or a party's hang-up leaves no party and no dialog behind", async function () {
    this.timeout(60_000);
    const random = randomNumbers(2);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const xs = occupy(alice, random);
    const ys = occupy(bob, random);
    const rest = await stage.rest();
    for (let round = 0; round < 40; round += 1) {
      const mode = random(3);
      const started = stage.operate('POST', { from: '101', to: '102', response_mode: mode, calltimeout: 1 });
      await delay(random(150));
      const party = [...xs.calls, ...ys.calls].find((call) => call.established);
      if (random(2) === 0) await party?.hangup();
      else {
        for (const { dialogid } of await stage.dialogs()) {
          const answer = await rest.send('DELETE', `${CALLS}/${dialogid}`);
          expect(answer.status, answer.text).to.be.oneOf([200, 404]);
        }
      }
      expect((await started).status).to.equal(200);
      // Also the calls that started after the DELETE.
      for (const { dialogid } of await stage.dialogs()) await rest.send('DELETE', `${CALLS}/${dialogid}`);
    }
    for (const { dialogid } of await stage.dialogs()) await rest.send('DELETE', `${CALLS}/${dialogid}`);
    await stage.expectNoDialog();
    xs.stop();
    ys.stop();
    for (const call of [...xs.calls, ...ys.calls]) await call.ended();
  });

  it('many concurrent calls do not disturb each other', async function () {
    this.timeout(60_000);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const connected = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const outgoing = await alice.call('102');
        const incoming = await bob.incoming();
        await incoming.answer();
        return { outgoing, incoming };
      }),
    );
    await Promise.all(connected.map(({ outgoing }) => outgoing.answered()));
    const dialogs = await stage.dialogs();
    expect(dialogs).to.have.length(10);
    for (const [index, { outgoing }] of connected.entries()) outgoing.play(400 + index * 90);
    for (const [index, { outgoing }] of connected.entries()) {
      const dialog = dialogs.find(({ acallid }) => acallid === outgoing.callId);
      const other = connected.find(({ incoming }) => dialog?.callids.includes(incoming.callId));
      await other?.incoming.hears(400 + index * 90);
    }
    await Promise.all(connected.slice(1).map(({ outgoing }) => outgoing.hangup()));
    const [last] = connected;
    const dialog = (await stage.dialogs()).find(({ acallid }) => acallid === last?.outgoing.callId);
    const other = connected.find(({ incoming }) => dialog?.callids.includes(incoming.callId));
    if (last === undefined || other === undefined) throw new Error('the call that stays is not in the list');
    await expectTalk(last.outgoing, other.incoming);
  });
});
