import { setTimeout as elapsed } from 'node:timers/promises';
import { expect } from 'chai';
import { CallGate } from '../../runtime/embedded/index.ts';
import { CallDoor } from '../../runtime/node/call-door.ts';
import { SetupQueue } from '../../runtime/switch/index.ts';

describe('the door of the embedded SIP server', () => {
  /** A door at which calls wait too long, and the server's side of its gate. */
  async function shut(): Promise<{ door: CallDoor; gate: CallGate; setups: SetupQueue; refused: number[] }> {
    const own = new CallGate();
    const gate = new CallGate(own.memory);
    const setups = new SetupQueue();
    const refused: number[] = [];
    const door = new CallDoor(own, setups, (calls) => refused.push(calls));
    gate.pass(false);
    door.came(1);
    for (let call = 0; call < 60; call += 1) gate.pass(false);
    for (let call = 0; call < 20; call += 1) {
      await elapsed(10);
      door.came(300);
    }
    return { door, gate, setups, refused };
  }

  it('shuts when calls wait, and takes those that are on their way unless they are late', async () => {
    const { door, gate, refused } = await shut();
    expect(gate.pass(false)).to.equal(false);
    expect([door.late, door.shut]).to.deep.equal([false, true]);
    door.came(500);
    expect(door.late).to.equal(true);
    expect(refused).to.deep.equal([1]);
    while (gate.coming > 0) door.came(5);
    expect([door.late, door.shut, gate.pass(false)]).to.deep.equal([false, false, true]);
  });

  it('opens a second after the last call, also when some never came', async () => {
    const { gate } = await shut();
    expect([gate.coming, gate.pass(false)]).to.deep.equal([40, false]);
    const until = performance.now() + 3000;
    while (!gate.pass(false) && performance.now() < until) await elapsed(20);
    expect(gate.coming).to.equal(1);
  });

  it('forgets calls that never came while others come at once', () => {
    const own = new CallGate();
    const gate = new CallGate(own.memory);
    const door = new CallDoor(own, new SetupQueue(), () => undefined);
    gate.pass(false);
    gate.pass(false);
    door.came(1);
    expect(gate.coming).to.equal(0);
  });
});
