import { expect } from 'chai';
import { MemoryWatch } from '../../runtime/sandbox/worker/memory-watch.ts';

describe('sandbox: memory of active scripts', () => {
  const MB = 1_048_576;
  /** Of a limit of 32 MB: V8 may take a multiple of it for a moment. */
  const ALLOWED = 3 * 32 + 64;

  const growth = (others: number, megabytes: number): readonly string[] => {
    const ended: string[] = [];
    let rss = 100 * MB;
    const watch = new MemoryWatch(
      4096,
      () => ended.push('all'),
      () => rss,
    );
    const scripts = Array.from({ length: 1 + others }, (_, i) => ({
      memoryMb: 32,
      isGone: false,
      exceededMemory: () => void ended.push(`script ${i}`),
    }));
    for (const script of scripts) watch.begin(script);
    rss += megabytes * MB;
    watch.look();
    for (const script of scripts) watch.end(script);
    watch.look();
    return ended;
  };

  it('is that of the process, attributed to the script running longest', () => {
    expect(growth(0, ALLOWED)).to.deep.equal([]);
    expect(growth(0, ALLOWED + 1)).to.deep.equal(['script 0']);
  });

  it('is not attributed within the limits of the others', () => {
    expect(growth(7, ALLOWED + 7 * 32)).to.deep.equal([]);
    expect(growth(7, ALLOWED + 7 * 32 + 1)).to.deep.equal(['script 0']);
    expect(growth(7, 4000)).to.deep.equal(['all']);
  });
});
