import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

const CALLS_IN_SEQUENCE = 200;
/** Gauges of the embedded SIP server; a real one does not report them. */
const RESTING = ['sip_transactions', 'sip_timers'];

describe('resources after many calls', () => {
  const stage = useStage({ ownNode: true });

  it(`${CALLS_IN_SEQUENCE} successive calls, also refused, cancelled and unanswered ones, leave none in use`, async function () {
    this.timeout(150_000);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const [carol, dave] = await stage.phones('carol', 'dave');
    // Also the transactions of the preceding registrations will have ended.
    const before = Object.fromEntries(
      Object.entries(await counts()).map(([name, count]) => [name, RESTING.includes(name) ? 0 : count]),
    );
    // Concurrently: a target that rings and never answers.
    const unanswered = stage.operate('POST', { from: '103', to: '104', response_mode: 4, targettimeout: 10 });
    const waiting = await carol.incoming();
    await waiting.answer();
    const ringing = await dave.incoming();
    ringing.ring();
    for (let number = 0; number < CALLS_IN_SEQUENCE; number += 1) {
      const call = await stage.connect(alice, bob, '102');
      const [first, second] = number % 2 === 0 ? [call.outgoing, call.incoming] : [call.incoming, call.outgoing];
      await first.hangup();
      expect((await second.ended()).by).to.equal('there');
    }
    for (let number = 0; number < 5; number += 1) {
      const call = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await call.ringing();
      await call.cancel();
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
      const menu = await alice.call('500');
      await menu.answered();
      await menu.hangup();
    }
    const answer = await unanswered;
    expect(answer.json(), answer.text).to.include({ result: 'rejected', last_response: 'SIP/2.0 408 Request Timeout' });
    expect((await ringing.ended()).by).to.equal('cancelled');
    expect((await waiting.ended()).by).to.equal('there');
    // A transaction stays for 32 s after its end, to absorb retransmissions (RFC 3261, timers H, J and I).
    await eventually(async () => expect(await counts()).to.deep.equal(before), 45_000);
  });

  async function startCall(): Promise<void> {
    const answer = await stage.operate('POST', { from: '101', to: '102', response_mode: 0 });
    expect(answer.status, answer.text).to.equal(200);
  }

  /** Counts of live objects, without totals. */
  async function counts(): Promise<Readonly<Record<string, number>>> {
    const { counts: all } = await stage.node.health();
    return Object.fromEntries(Object.entries(all).filter(([name]) => !/packets|lateness/i.test(name)));
  }
});
