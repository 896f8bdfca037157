import { expect } from 'chai';
import { CallGate } from '../../../runtime/embedded/sip/call-gate.ts';
import { RawNode } from './raw-node.ts';

const CONTACT = 'Contact: <sip:alice@127.0.0.1>';

describe('the gate of the embedded SIP server', () => {
  it('lets calls pass while fewer are on their way than there is room for', () => {
    const gate = new CallGate();
    const server = new CallGate(gate.memory);
    expect([server.pass(false), server.pass(false), gate.coming]).to.deep.equal([true, true, 2]);
    gate.room = 2;
    expect([server.pass(false), server.pass(true), gate.refused(), gate.refused()]).to.deep.equal([false, true, 1, 0]);
    gate.take();
    gate.take();
    expect([gate.coming, server.pass(false), server.pass(false), gate.refused()]).to.deep.equal([1, true, false, 1]);
    gate.settle();
    expect([gate.coming, server.pass(false)]).to.deep.equal([0, true]);
    gate.room = 0;
    expect([server.pass(false), server.pass(true)]).to.deep.equal([false, true]);
  });

  it('passes at most sixty calls that the application has not taken', () => {
    const gate = new CallGate();
    const server = new CallGate(gate.memory);
    const passed = (calls: number): number =>
      Array.from({ length: calls }, () => server.pass(false)).filter(Boolean).length;
    expect([passed(80), gate.refused(), server.pass(true)]).to.deep.equal([60, 20, true]);
    for (let call = 0; call < 11; call += 1) gate.take();
    expect([passed(20), gate.shut]).to.deep.equal([10, false]);
  });

  it('counts calls as lost when none was taken for a second', () => {
    let now = 0;
    const gate = new CallGate();
    const server = new CallGate(gate.memory, () => now);
    for (let call = 0; call < 60; call += 1) server.pass(false);
    now = 5000;
    expect(server.pass(false)).to.equal(false);
    now += 999;
    expect(server.pass(false)).to.equal(false);
    gate.take();
    expect([server.pass(false), server.pass(false)]).to.deep.equal([true, false]);
    now += 999;
    expect(server.pass(false)).to.equal(false);
    now += 1;
    expect([server.pass(false), gate.coming]).to.deep.equal([true, 1]);
  });

  it('goes on counting beyond the largest number', () => {
    const gate = new CallGate();
    new Int32Array(gate.memory).set([3, 2 ** 31 - 1, 2 ** 31 - 1], 0);
    expect([1, 2, 3, 4].map(() => gate.pass(false))).to.deep.equal([true, true, true, false]);
    expect(gate.coming).to.equal(3);
  });

  describe('that is shut', () => {
    let node: RawNode;
    const gate = new CallGate();
    gate.room = 0;
    before(async () => {
      node = await RawNode.start(['invite', 'options'], { gate: gate.memory });
    });
    after(() => node.close());

    it('refuses a new call with 503 and Retry-After, and tells no application', async () => {
      await node.say('INVITE', [CONTACT]);
      const refusal = await node.heard('503');
      expect([refusal.cseq.method, refusal.header('retry-after')]).to.deep.equal(['INVITE', '1']);
      await node.say('ACK', [], { to: refusal.toTag ?? '' });
      expect(gate.refused()).to.equal(1);
      await node.say('OPTIONS');
      expect((await node.frame()).message).to.have.property('method', 'OPTIONS');
    });

    it('lets a call pass that replaces another', async () => {
      await node.say('INVITE', [CONTACT, 'Replaces: a@b;to-tag=1;from-tag=2'], { branch: 'r' });
      expect((await node.frame()).message).to.have.property('method', 'INVITE');
      expect([gate.coming, gate.refused()]).to.deep.equal([1, 0]);
    });
  });
});
