import { expect } from 'chai';
import { openSandbox } from '../../runtime/sandbox/index.ts';
import { BRIEF_MS, type Leave, STAY_MS, Turnstile } from '../../runtime/sandbox/worker/turnstile.ts';
import { startScript } from './support.ts';

const LONG_MS = 10 * BRIEF_MS;

describe('sandbox: the order of turns', () => {
  let now = 0;
  let later: (() => void)[] = [];
  const clock = {
    now: () => now,
    after: (milliseconds: number, then: () => void) => {
      const at = now + milliseconds;
      const due = (): void => (now < at ? undefined : then());
      later.push(due);
      return () => void (later = later.filter((other) => other !== due));
    },
  };
  /** Time goes by. */
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    for (const due of later) due();
    await settled();
  };
  let turnstile: Turnstile;
  /** By what they are called, in the order in which they came in. */
  let inside: string[];
  let ways: Map<string, Leave>;

  beforeEach(() => {
    now = 0;
    later = [];
    turnstile = new Turnstile({ all: 5, long: 3, fresh: 3, ofOne: 2 }, clock);
    inside = [];
    ways = new Map();
  });

  /** Runs want to work: `a1` and `a2` are of one family. */
  const come = async (...names: readonly string[]): Promise<void> => comeAfter(0, ...names);
  const comeAfter = async (usedMs: number, ...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      void turnstile.enter(name.charAt(0), usedMs).then((way) => {
        inside.push(name);
        ways.set(name, way);
      });
    }
    await settled();
  };
  const leave = async (name: string, usedMs: number): Promise<void> => {
    ways.get(name)?.(usedMs);
    await settled();
  };
  /** Families become known by a turn. */
  const know = async (usedMs: number, ...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      await come(name);
      await leave(name, usedMs);
    }
    inside = [];
  };

  it('admits a limited number of runs of one family, in order of arrival', async () => {
    await come('a1', 'a2', 'a3', 'a4');
    expect(inside).to.deep.equal(['a1', 'a2']);
    await leave('a2', LONG_MS);
    await leave('a2', LONG_MS);
    expect(inside).to.deep.equal(['a1', 'a2', 'a3']);
    await leave('a1', 0);
    expect(inside).to.deep.equal(['a1', 'a2', 'a3', 'a4']);
  });

  it('admits the least used run of a family first', async () => {
    await come('a1', 'a2');
    await comeAfter(3 * LONG_MS, 'a3');
    await comeAfter(LONG_MS, 'a4');
    await comeAfter(BRIEF_MS / 2, 'a5');
    await come('a6');
    for (const name of ['a1', 'a2', 'a5', 'a6']) await leave(name, 1);
    expect(inside).to.deep.equal(['a1', 'a2', 'a5', 'a6', 'a4', 'a3']);
  });

  it('has a place for another family, however many of the first wait', async () => {
    await come('a1', 'a2', 'a3', 'b1');
    expect(inside).to.deep.equal(['a1', 'a2', 'b1']);
  });

  it('admits the least used family first', async () => {
    await know(3 * LONG_MS, 'a0');
    await know(LONG_MS, 'b0');
    await know(2 * LONG_MS, 'c0');
    await come('x1', 'y1', 'z1', 'a1', 'b1', 'c1');
    for (const name of ['x1', 'y1', 'z1']) await leave(name, LONG_MS);
    expect(inside.slice(3)).to.deep.equal(['b1', 'c1', 'a1']);
  });

  it('forgets old usage', async () => {
    await know(10 * LONG_MS, 'a0');
    now += 60_000;
    await know(LONG_MS, 'b0');
    await come('x1', 'y1', 'z1', 'b1', 'a1');
    await leave('x1', LONG_MS);
    expect(inside.slice(3)).to.deep.equal(['a1']);
  });

  it('admits families with short turns while the others have all their places', async () => {
    await know(1, 'a0', 'b0', 'c0');
    await come('x1', 'y1', 'z1', 'v1', 'a1', 'b1', 'c1');
    expect(inside).to.deep.equal(['x1', 'y1', 'z1', 'a1', 'b1']);
    await leave('a1', 1);
    expect(inside.slice(5)).to.deep.equal(['c1']);
  });

  describe('with one place for long turns', () => {
    beforeEach(() => {
      turnstile = new Turnstile({ all: 5, long: 3, fresh: 1, ofOne: 2 }, clock);
    });

    it('admits the next long turn when one ends', async () => {
      await come('a1', 'b1', 'c1');
      expect(inside).to.deep.equal(['a1']);
      await leave('a1', LONG_MS);
      expect(inside).to.deep.equal(['a1', 'b1']);
      await pass(STAY_MS - 1);
      await leave('b1', LONG_MS);
      await pass(1);
      expect(inside).to.deep.equal(['a1', 'b1', 'c1']);
    });

    it('admits the next long turn when one does not end soon, up to the number of places', async () => {
      await come('a1', 'b1', 'c1', 'd1');
      for (const expected of [['a1'], ['a1', 'b1'], ['a1', 'b1', 'c1'], ['a1', 'b1', 'c1']]) {
        expect(inside).to.deep.equal(expected);
        await pass(STAY_MS);
      }
      await leave('a1', LONG_MS);
      expect(inside).to.deep.equal(['a1', 'b1', 'c1', 'd1']);
      expect(later).to.have.length(1);
      for (const name of ['b1', 'c1', 'd1']) await leave(name, LONG_MS);
      expect(later).to.deep.equal([]);
    });

    it('admits a new family beside one with long turns', async () => {
      await know(LONG_MS, 'a0', 'b0');
      await come('a1', 'b1', 'x1', 'y1');
      expect(inside).to.deep.equal(['a1', 'x1']);
      await leave('x1', LONG_MS);
      expect(inside).to.deep.equal(['a1', 'x1', 'y1']);
    });

    it('admits short turns at any time', async () => {
      await know(1, 'a0', 'b0');
      await come('x1', 'y1', 'a1', 'b1');
      expect(inside).to.deep.equal(['x1', 'a1', 'b1']);
    });
  });

  it('classifies a family by its last turn', async () => {
    await know(1, 'a0');
    await know(LONG_MS, 'a0');
    await come('x1', 'y1', 'z1', 'a1');
    expect(inside).to.deep.equal(['x1', 'y1', 'z1']);
    await leave('x1', LONG_MS);
    await leave('a1', 1);
    await come('v1', 'a2', 'a3');
    expect(inside).to.deep.equal(['x1', 'y1', 'z1', 'a1', 'v1', 'a2', 'a3']);
  });
});

describe('sandbox: a busy scenario', function () {
  this.timeout(60_000);

  it('leaves the processor to another scenario, whose small scripts end before fifty turns of its own', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    const control = new AbortController();
    try {
      let turns = 0;
      const busy = Promise.withResolvers<void>();
      const source = 'for (;;) { let n = 0; for (let i = 0; i < 1e7; i++) n = (n * 31 + i) % 1000003; await echo(n); }';
      const runs = Array.from({ length: 100 }, () =>
        startScript(sandbox, {
          version: 'busy',
          source,
          signal: control.signal,
          onCommand: async () => {
            turns += 1;
            if (turns === 20) busy.resolve();
          },
        }),
      );
      const ends = Promise.allSettled(runs.map(({ finished }) => finished));
      await busy.promise;
      const before = turns;
      for (let i = 0; i < 10; i += 1) {
        const { value } = await startScript(sandbox, { version: 'small', source: 'return 1' }).finished;
        expect(value).to.equal(1);
      }
      expect(turns - before).to.be.lessThan(50);
      control.abort();
      await ends;
    } finally {
      await sandbox.close();
    }
  });
});

/** What was promised has been done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
