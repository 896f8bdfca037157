import { expect } from 'chai';
import { WriteBehind } from '../../runtime/domain/location/write-behind.ts';

/** A writer whose writes end when the test says so. */
function gatedWriter() {
  const batches: string[][] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const begun: (() => void)[] = [];
  return {
    batches,
    errors,
    options: {
      write: (keys: readonly string[]) => {
        batches.push([...keys]);
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        begun.shift()?.();
        return gate.promise;
      },
      onError: (error: unknown) => void errors.push(error),
    },
    /** Resolves when the next write begins. */
    nextWrite: () => new Promise<void>((resolve) => begun.push(resolve)),
    finish: () => gates.shift()?.resolve(),
    fail: (error: Error) => gates.shift()?.reject(error),
  };
}

const pairs = (...keys: string[]) => keys.map((key) => [key, key] as const);

describe('write-behind', () => {
  it('writes changes during a write in one further batch, each key once', async () => {
    const writer = gatedWriter();
    const behind = new WriteBehind<string>(writer.options);
    const began = writer.nextWrite();
    const first = behind.mark(pairs('a'));
    await began;
    const later = Promise.all([behind.mark(pairs('b')), behind.mark(pairs('c', 'a')), behind.mark(pairs('b'))]);
    const second = writer.nextWrite();
    writer.finish();
    await first;
    await second;
    writer.finish();
    await later;
    expect(writer.batches).to.deep.equal([['a'], ['b', 'c', 'a']]);
    await behind.close();
  });

  it('splits many keys into bounded statements', async () => {
    const sizes: number[] = [];
    const behind = new WriteBehind<number>({
      batch: 10,
      write: (keys) => Promise.resolve(void sizes.push(keys.length)),
      onError: () => undefined,
    });
    await behind.mark(Array.from({ length: 25 }, (_, n) => [String(n), n] as const));
    expect(sizes).to.deep.equal([10, 10, 5]);
  });

  it('releases a caller when the write takes too long, and still finishes it', async () => {
    const writer = gatedWriter();
    const behind = new WriteBehind<string>({ ...writer.options, patienceMs: 10 });
    await behind.mark(pairs('a'));
    expect(writer.batches).to.deep.equal([['a']]);
    const closed = behind.close();
    writer.finish();
    await closed;
    expect(behind.pending).to.equal(0);
  });

  it('reports a failed write and repeats it with later changes', async () => {
    const writer = gatedWriter();
    const behind = new WriteBehind<string>({ ...writer.options, retryMs: 5, patienceMs: 60_000 });
    const began = writer.nextWrite();
    const first = behind.mark(pairs('a'));
    await began;
    const second = behind.mark(pairs('b'));
    const again = writer.nextWrite();
    writer.fail(new Error('database away'));
    await again;
    writer.finish();
    await Promise.all([first, second]);
    expect(writer.errors).to.have.length(1);
    expect(writer.batches.map((keys) => keys.toSorted())).to.deep.equal([['a'], ['a', 'b']]);
  });

  it('writes pending changes on close', async () => {
    const writer = gatedWriter();
    const behind = new WriteBehind<string>({ ...writer.options, retryMs: 60_000, patienceMs: 1 });
    const began = writer.nextWrite();
    const marked = behind.mark(pairs('a'));
    await began;
    writer.fail(new Error('once'));
    await marked;
    const last = writer.nextWrite();
    const closed = behind.close();
    await last;
    writer.finish();
    await closed;
    expect(writer.batches).to.deep.equal([['a'], ['a']]);
    expect(behind.pending).to.equal(0);
  });
});
