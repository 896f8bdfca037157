import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

const CALLS_IN_SEQUENCE = 200;

describe('after many calls', () => {
  const stage = useStage();

  it(`${CALLS_IN_SEQUENCE} one after another leave nothing behind`, async function () {
    this.timeout(150_000);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    await outgoing.hangup();
    const before = await idle();
    for (let number = 0; number < CALLS_IN_SEQUENCE; number += 1) {
      const call = await stage.connect(alice, bob, '102');
      const [first, second] = number % 2 === 0 ? [call.outgoing, call.incoming] : [call.incoming, call.outgoing];
      await first.hangup();
      expect((await second.ended()).by).to.equal('there');
    }
    // A transaction stays for 32 s after its end, to absorb retransmissions (RFC 3261, timers H, J and I).
    await eventually(async () => expect(await counts()).to.deep.equal(before), 45_000);
  });

  it('made by POST and refused, cancelled or answered, neither', async function () {
    this.timeout(120_000);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const before = await idle();
    for (let number = 0; number < 5; number += 1) {
      await startCall();
      (await alice.incoming()).reject(486);
      await startCall();
      const x = await alice.incoming();
      await x.answer();
      (await bob.incoming()).reject(486);
      await x.ended();
      await startCall();
      const again = await alice.incoming();
      await again.answer();
      const y = await bob.incoming();
      await y.answer();
      await y.hangup();
      await again.ended();
    }
    await eventually(async () => expect(await counts()).to.deep.equal(before), 45_000);
  });

  async function startCall(): Promise<void> {
    const answer = await stage.operate('POST', { from: '101', to: '102', response_mode: 0 });
    expect(answer.status, answer.text).to.equal(200);
  }

  async function counts(): Promise<Readonly<Record<string, number>>> {
    const { counts: all } = await stage.node.health();
    // Figures of what has been are no counts of what is alive.
    return Object.fromEntries(Object.entries(all).filter(([name]) => !/packets|lateness/i.test(name)));
  }

  /** The counts once they have come to rest: the tests before have left their transactions. */
  async function idle(): Promise<Readonly<Record<string, number>>> {
    return eventually(async () => {
      const now = await counts();
      for (const [name, count] of Object.entries(now)) {
        if (/transaction|dialog|endpoint|channel|rtp|runs|call/i.test(name)) expect(count, name).to.equal(0);
      }
      return now;
    }, 45_000);
  }
});
