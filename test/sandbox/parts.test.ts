import { expect } from 'chai';
import { FrameError, FrameReader, encodeFrame } from '../../runtime/sandbox/frame.ts';
import { Budget } from '../../runtime/sandbox/host/budget.ts';
import { Growth } from '../../runtime/sandbox/host/growth.ts';
import { Pace } from '../../runtime/sandbox/host/pace.ts';
import { Programs } from '../../runtime/sandbox/host/programs.ts';
import { Quarantine } from '../../runtime/sandbox/host/quarantine.ts';
import { InvalidOutputError, parseOutput } from '../../runtime/sandbox/host/output.ts';
import { MAX_DEPTH, NotPlainError, parsePlain, stringifyPlain } from '../../runtime/sandbox/json.ts';
import { DEFAULT_LIMITS } from '../../runtime/sandbox/limits.ts';
import { MemoryWatch } from '../../runtime/sandbox/worker/memory-watch.ts';
import { ProcessorWatch, BUSY_FACTOR } from '../../runtime/sandbox/worker/processor-watch.ts';

describe('sandbox: frames', () => {
  const frames = [
    { header: { n: 1 }, body: '' },
    { header: { n: 2 }, body: 'grüße €' },
    { header: { n: 3 }, body: 'x'.repeat(5000) },
  ];
  const bytes = Buffer.concat(frames.map(({ header, body }) => encodeFrame(header, body)));

  for (const size of [1, 7, 4096, bytes.length]) {
    it(`are read from chunks of ${size} bytes`, () => {
      const reader = new FrameReader<object>(10_000);
      const read = [];
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.subarray(at, at + size));
        for (let frame = reader.next(); frame; frame = reader.next()) read.push(frame);
      }
      expect(read).to.deep.equal(frames);
    });
  }

  it('are refused when too long or invalid', () => {
    const long = new FrameReader(100);
    long.push(encodeFrame({}, 'x'.repeat(200)));
    expect(() => long.next()).to.throw(FrameError, 'too long');
    const header = new FrameReader(100);
    header.push(Buffer.from([0, 0, 0, 6, 0, 0, 0, 9, 1, 2]));
    expect(() => header.next()).to.throw(FrameError, 'longer than its frame');
    const json = new FrameReader(100);
    json.push(Buffer.from([0, 0, 0, 6, 0, 0, 0, 2, 1, 2]));
    expect(() => json.next()).to.throw(FrameError, 'not JSON');
  });
});

describe('sandbox: plain data', () => {
  it('passes unchanged', () => {
    const value = { a: [1, 'x', null, true, { b: {} }] };
    expect(parsePlain(stringifyPlain(value, 1000))).to.deep.equal(value);
    expect(stringifyPlain(undefined, 1000)).to.equal('null');
  });

  it('is refused in other forms', () => {
    expect(() => parsePlain('{')).to.throw(NotPlainError);
    expect(() => parsePlain('{"a": {"__proto__": 1}}')).to.throw(NotPlainError, '__proto__');
    const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(parsePlain(deep(MAX_DEPTH))).to.be.an('array');
    expect(() => parsePlain(deep(MAX_DEPTH + 2))).to.throw(NotPlainError, 'deep');
    expect(() => stringifyPlain('x'.repeat(20), 10)).to.throw(NotPlainError, 'characters');
    expect(() => stringifyPlain(() => 1, 10)).to.throw(NotPlainError, 'function');
    expect(() => stringifyPlain(1n, 10)).to.throw(NotPlainError);
  });
});

describe('sandbox: output of a script', () => {
  it('is parsed', () => {
    expect(
      parseOutput('[["call",1,"a.b",[2]],["cancel",1],["log","warn","x"],["limit","cpuMs"],["done",1,{"v":2}]]'),
    ).to.deep.equal([
      { kind: 'call', id: 1, name: 'a.b', args: [2] },
      { kind: 'cancel', id: 1 },
      { kind: 'log', level: 'warn', text: 'x' },
      { kind: 'limit', limit: 'cpuMs' },
      { kind: 'done', value: 1, vars: { v: 2 } },
    ]);
    expect(parseOutput('')).to.deep.equal([]);
  });

  for (const body of [
    '{}',
    '[1]',
    '[["call","1","a",[]]]',
    '[["call",1,"a",{}]]',
    '[["limit","toString"]]',
    '[["log","x","y"]]',
    '[["own"]]',
  ]) {
    it(`is refused: ${body}`, () => {
      expect(() => parseOutput(body)).to.throw(InvalidOutputError);
    });
  }
});

describe('sandbox: budget', () => {
  it('counts commands, pending ones, and timers among them', () => {
    const budget = new Budget({ ...DEFAULT_LIMITS, commands: 6, pendingCommands: 2, timers: 1 });
    expect(budget.countCommand(1, 'sleep')).to.equal(undefined);
    expect(budget.countCommand(2, 'sleep')).to.equal('timers');
    budget.settle(2);
    expect(budget.countCommand(3, 'play')).to.equal('pendingCommands');
    budget.settle(3);
    budget.beginTurn();
    expect(budget.countCommand(3, 'play')).to.equal(undefined);
    expect(budget.countCommand(4, 'play')).to.equal('pendingCommands');
    budget.settle(1);
    budget.settle(4);
    budget.beginTurn();
    expect(budget.countCommand(5, 'sleep')).to.equal(undefined);
    expect(budget.countCommand(6, 'play')).to.equal('commands');
    expect(budget.usage()).to.deep.equal({ commands: 7, logLines: 0, logBytes: 0 });
  });

  it('counts log lines and bytes', () => {
    const budget = new Budget({ ...DEFAULT_LIMITS, logLines: 2, logBytes: 5 });
    expect(budget.countLog('€')).to.equal(undefined);
    expect(budget.countLog('abc')).to.equal('logBytes');
    expect(budget.countLog('')).to.equal('logLines');
  });

  it('limits the rate: a burst of one second’s worth, then one per interval; long texts cost more', () => {
    const pace = new Pace(10);
    const wait = (now: number): number => {
      pace.command(now);
      return pace.wait(now);
    };
    const waits = Array.from({ length: 12 }, () => wait(5000));
    expect(waits.slice(0, 10)).to.deep.equal(Array(10).fill(0));
    expect(waits.slice(10)).to.deep.equal([100, 200]);
    expect(wait(5100)).to.equal(200);
    expect(wait(10_000)).to.equal(0);
    pace.crossed(20_000, 20 * 4096);
    expect(pace.wait(20_000)).to.equal(1000);
  });
});

describe('sandbox: growth of a process', () => {
  const MB = 1_048_576;
  const look = { rss: 200 * MB, allowed: 0, arrivals: 0 };

  it('counts after a while with few runs', () => {
    const growth = new Growth(100 * MB);
    expect([look, look, look].map((each) => growth.look(each))).to.deep.equal([false, false, true]);
  });

  it('does not count while runs arrive, or while present ones may need it', () => {
    for (const other of [{ arrivals: 3 }, { allowed: 96 * MB }, { rss: 130 * MB }]) {
      const growth = new Growth(100 * MB);
      const looks = [look, look, { ...look, ...other }, look, look];
      expect(looks.map((each) => growth.look(each))).to.deep.equal(looks.map(() => false));
      expect(growth.look(look)).to.equal(true);
    }
  });
});

describe('sandbox: programs and quarantine', () => {
  const source = { source: '1', format: 'js', kind: 'block', file: 'f' } as const;

  it('numbers a source once, keeps others of the same version, and drops the least recently used', () => {
    const forgotten: number[] = [];
    const programs = new Programs(2, ({ id }) => forgotten.push(id));
    const { id } = programs.find('v1', source);
    expect(programs.find('v1', { ...source }).id).to.equal(id);
    const other = programs.find('v1', { ...source, source: '2' });
    expect(other.id).not.to.equal(id);
    expect(programs.find('v1', source).id).to.equal(id);
    expect(programs.find('v1', { ...source, source: '2' }).id).to.equal(other.id);
    expect(forgotten).to.deep.equal([]);
    programs.find('v1', { ...source, line: 7 });
    expect(forgotten).to.deep.equal([id]);
    programs.find('v2', source);
    expect(forgotten).to.deep.equal([id, other.id]);
  });

  it('keeps a program apart for ten minutes', () => {
    const quarantine = new Quarantine();
    quarantine.add('p', 1000);
    expect(quarantine.has('p', 1000 + 599_999)).to.equal(true);
    expect(quarantine.has('q', 1000)).to.equal(false);
    expect(quarantine.has('p', 1000 + 600_000)).to.equal(false);
  });
});

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

describe('sandbox: processor time', () => {
  const clock = { cpu: 1000 };
  const ended: string[] = [];

  function turnOf(name: string, limitMs: number) {
    const turn = { onThreadMs: 0, limitMs, onThread: () => turn.onThreadMs, exceeded: () => ended.push(name) };
    return turn;
  }

  beforeEach(() => ended.splice(0));

  it("is the share of the process's time in which a script was on a thread", () => {
    const watch = new ProcessorWatch(() => clock.cpu);
    const long = turnOf('long', 500);
    const queued = turnOf('queued', 500);
    const late = turnOf('late', 500);
    watch.begin(long);
    watch.begin(queued);
    // Alone on a thread, and got half of the processor.
    long.onThreadMs += 100;
    clock.cpu += 50;
    watch.look();
    expect([watch.used(long), watch.used(queued)]).to.deep.equal([50, 0]);
    watch.begin(late);
    // Two threads share what there is; and the process does other things beside.
    long.onThreadMs += 100;
    late.onThreadMs += 300;
    clock.cpu += 200;
    watch.look();
    expect([watch.used(long), watch.used(late)]).to.deep.equal([100, 150]);
    clock.cpu += 900;
    late.onThreadMs += 7;
    expect(watch.end(late)).to.equal(157);
    expect([watch.end(long), watch.end(queued), watch.used(long)]).to.deep.equal([100, 0, 0]);
    watch.look();
  });

  it('ends a turn over its limit once, and no turn that only waits', () => {
    const watch = new ProcessorWatch(() => clock.cpu);
    const greedy = turnOf('greedy', 100);
    const starved = turnOf('starved', 100);
    watch.begin(greedy);
    watch.begin(starved);
    greedy.onThreadMs += 99;
    clock.cpu += 99;
    watch.look();
    expect(ended).to.deep.equal([]);
    greedy.onThreadMs += 1;
    clock.cpu += 1;
    watch.look();
    watch.look();
    expect(ended).to.deep.equal(['greedy']);
    watch.end(greedy);
    watch.end(starved);
    watch.look();
  });

  it('is bounded in waiting', async () => {
    const watch = new ProcessorWatch(() => clock.cpu);
    const over = Promise.withResolvers<void>();
    const began = performance.now();
    const turn = { ...turnOf('starved', 3), exceeded: () => over.resolve() };
    watch.begin(turn);
    await over.promise;
    expect(performance.now() - began).to.be.at.least(BUSY_FACTOR * 3 - 1);
    watch.end(turn);
    watch.look();
  });
});
