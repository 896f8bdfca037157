import { expect } from 'chai';
import { MessageStore } from '../../runtime/ladder/message-store.ts';

const MIB = 1_048_576;
const HOUR = 3_600_000;
const all = () => true;

describe('the store of SIP messages', () => {
  it('finds the texts with one of the needles, oldest first', async () => {
    let now = 1000;
    const store = new MessageStore(MIB, HOUR, () => now);
    for (const text of ['one é', 'two', 'three é one']) {
      store.add(7, text);
      now += 1;
    }
    expect(await store.find(['one'], all)).to.deep.equal([
      { kind: 7, time: 1000, text: 'one é' },
      { kind: 7, time: 1002, text: 'three é one' },
    ]);
    expect((await store.find(['two', 'three', ''], all)).map(({ text }) => text)).to.deep.equal(['two', 'three é one']);
    expect(await store.find(['four'], all)).to.deep.equal([]);
    expect(await store.find(['one'], (kind) => kind !== 7)).to.deep.equal([]);
  });

  it('a match across two texts, or in their heads, is none', async () => {
    const store = new MessageStore(MIB, HOUR, () => 0);
    for (const text of ['ab', 'cd', 'ab']) store.add(0, text);
    // Length, kind and time of the second text are between the first two.
    expect(await store.find([`b\u0002\0\0\0`, 'abcd', '\0\0\0\0'], all)).to.deep.equal([]);
    expect(await store.find(['ab'], all)).to.have.length(2);
  });

  it('drops the oldest beyond its limit, and says until when', async () => {
    let now = 0;
    const store = new MessageStore(MIB, HOUR, () => now);
    const text = (at: number) => `message ${at} `.padEnd(10_000, 'x');
    for (; now < 1000; now += 1) store.add(0, text(now));
    expect(store.bytes)
      .to.be.at.most(MIB)
      .and.at.least(MIB / 2);
    const kept = await store.find(['message'], all);
    expect(kept.length).to.be.within(50, 104);
    expect(kept.at(-1)?.text).to.equal(text(999));
    expect(store.droppedUntil).to.equal((kept[0]?.time ?? 0) - 1);
  });

  it('drops what is too old', async () => {
    let now = 0;
    const store = new MessageStore(MIB, HOUR, () => now);
    store.add(0, 'old');
    now = HOUR / 2;
    store.add(0, 'young');
    now = HOUR + 1;
    expect((await store.find(['o'], all)).map(({ text }) => text)).to.deep.equal(['young']);
    now = 2 * HOUR;
    store.expire();
    expect(store.bytes).to.equal(0);
  });

  it('keeps nothing with the limit 0, and no text that is longer than a block', async () => {
    const off = new MessageStore(0, HOUR);
    off.add(0, 'text');
    expect(off.bytes).to.equal(0);
    const store = new MessageStore(MIB, HOUR);
    store.add(0, 'x'.repeat(300_000));
    expect(await store.find(['x'], all)).to.deep.equal([]);
  });
});
