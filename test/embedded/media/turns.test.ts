import { expect } from 'chai';
import { TurnBook } from '../../../runtime/embedded/media/core/turn-book.ts';
import { ThreadLag } from '../../../runtime/embedded/media/rtp/thread-lag.ts';
import { TURNS } from '../../../runtime/embedded/media/rtp/ticker.ts';

describe('embedded media server: turns', () => {
  function channels(count: number): object[] {
    return Array.from({ length: count }, () => ({}));
  }

  function ran(book: TurnBook<object>, frame: number, turn: number): object[] {
    const found: object[] = [];
    book.run(frame, turn, (channel) => found.push(channel));
    return found;
  }

  it('few channels share the first turn, many are spread evenly', () => {
    const book = new TurnBook<object>();
    const few = channels(10);
    for (const channel of few) book.enter(channel);
    expect(ran(book, 1, 0)).to.deep.equal(few);
    expect([1, 2, 3].map((turn) => book.isUsed(turn))).to.deep.equal([false, false, false]);
    for (const channel of channels(990)) book.enter(channel);
    const sizes = Array.from({ length: TURNS }, (_, turn) => ran(book, 2, turn).length);
    expect(sizes).to.deep.equal([250, 250, 250, 250]);
  });

  it('every channel has one turn in each frame, also when it moves to a later one', () => {
    const book = new TurnBook<object>();
    const [first, second] = channels(2) as [object, object];
    book.enter(first);
    book.enter(second);
    const turns: [number, object][] = [];
    book.run(1, 0, (channel) => {
      turns.push([0, channel]);
      book.move(first, 2);
    });
    book.run(1, 2, (channel) => turns.push([2, channel]));
    book.run(2, 2, (channel) => turns.push([2, channel]));
    expect(turns.map(([turn, channel]) => [turn, channel === first])).to.deep.equal([
      [0, true],
      [0, false],
      [2, true],
    ]);
  });

  it('an ended channel is removed', () => {
    const book = new TurnBook<object>();
    const [first, second] = channels(2) as [object, object];
    book.enter(first);
    book.enter(second);
    book.move(second, 3);
    book.leave(first);
    book.leave(second);
    expect(Array.from({ length: TURNS }, (_, turn) => book.isUsed(turn))).to.deep.equal([false, false, false, false]);
  });

  it('only packets since the last read of the sockets count as waiting', async () => {
    const lag = new ThreadLag();
    lag.at(performance.now());
    await new Promise((resolve) => setImmediate(resolve));
    const read = performance.now();
    expect(lag.at(read + 30)).to.be.within(29, 31);
    // The second packet of the same turn has waited as long as the first.
    expect(lag.at(read + 30.1)).to.be.within(29, 31);
  });
});
