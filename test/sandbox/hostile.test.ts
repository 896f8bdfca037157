import process from 'node:process';
import { expect } from 'chai';
import { type Sandbox, type ScriptRun, openSandbox } from '../../runtime/sandbox/index.ts';
import { errorOf, startScript } from './support.ts';

/** Each must end with one of these codes; `limit` unless said otherwise. */
const HOSTILE: Readonly<Record<string, string | readonly [source: string, code: string]>> = {
  'an endless loop': 'for (;;);',
  'an endless loop of awaits': 'for (;;) await 1;',
  'a microtask flood': 'function flood() { Promise.resolve().then(flood).then(flood); } flood(); await sleep(1);',
  'a microtask flood after an answer': 'await echo(); for (;;) await null;',
  'an endless loop in an event listener': "events.on('go', () => { for (;;); }); await echo('go'); await sleep(5000);",
  'a regex bomb': "return /^(a+)+$/.test('a'.repeat(50) + 'b')",
  'a promise flood': 'const all = []; for (;;) all.push(new Promise(() => {}));',
  'arrays without end': 'const all = []; for (;;) all.push(new Array(1000).fill(1));',
  'a Map without end': 'const map = new Map(); for (let i = 0; ; i++) map.set(i, {});',
  'properties without end': "const o = {}; for (let i = 0; ; i++) o['k' + i] = i;",
  'strings without end': "const all = []; for (;;) all.push('x'.repeat(2 ** 29 - 30).slice(1) + 'z');",
  'a flattened string': "return 'a'.repeat(2 ** 26).split('').length",
  'a replaced string': "const s = 'ab'.repeat(2 ** 27); const all = []; for (;;) all.push(s.replace(/a/g, 'cc'));",
  'formatters without end':
    "const all = []; for (;;) all.push(new Intl.DateTimeFormat('de', { month: 'long' }).format);",
  'JSON without end': 'const all = Array.from({ length: 3e5 }, (_, i) => ({ i })); for (;;) JSON.stringify(all);',
  'commands without end': 'for (;;) call.play();',
  'ten thousand sleeps': 'for (let i = 0; i < 10000; i++) sleep(100000);',
  'a log without end': "for (;;) log('x'.repeat(1000));",
  'a getter in an error that never returns': 'throw { get stack() { for (;;); } };',
  'an unhandled error that cannot be read':
    "const e = new Error(); Object.defineProperty(e, 'stack', { get() { for (;;); } }); Promise.reject(e); await sleep(5000);",
  'a stack formatter that never returns':
    "Error.prepareStackTrace = () => { for (;;); }; Promise.reject(new Error('x')); await sleep(5000);",
  'toJSON that never returns': 'await echo({ toJSON() { for (;;); } });',
  'a thenable that never returns': 'return { then() { for (;;); } };',
  'a proxy as argument': 'await echo(new Proxy({}, { ownKeys() { for (;;); } }));',
  'a huge argument': "await echo('x'.repeat(3e5));",
  'an argument of many parts': "await echo(Array(2e5).fill('ab'));",
  'a species that never returns':
    'class A extends Array { static get [Symbol.species]() { for (;;); } } await echo(new A(1, 2).map((x) => x));',
  'a then on every object':
    "Object.defineProperty(Object.prototype, 'then', { get() { for (;;); } }); await echo({}); await sleep(5000);",
  'a log that never returns': 'log({ toJSON() { for (;;); } });',
  'a Set of growing texts': "const set = new Set(); for (let s = ''; ; s += 'x') set.add(s + Math.random());",
  'typed arrays without end': ['const all = []; for (;;) all.push(new Float64Array(1e5).fill(1));', 'script'],
  'a huge buffer': ['return new ArrayBuffer(2e9).byteLength', 'script'],
  'buffers without end': ['const all = []; for (;;) all.push(new ArrayBuffer(1e6));', 'script'],
  'growable buffers': [
    'const all = []; for (;;) { const b = new ArrayBuffer(8, { maxByteLength: 1e8 }); b.resize(1e8); all.push(b); }',
    'script',
  ],
  'a deep recursion': ['function f() { f(); } f();', 'script'],
  'WebAssembly memory': ['new WebAssembly.Memory({ initial: 1000 })', 'script'],
  'a blocked thread': ['Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', 'script'],
};

/** Built-in functions V8 does not interrupt: the isolate cannot be stopped, and its process has to be replaced. */
const UNSTOPPABLE: Readonly<Record<string, string>> = {
  'a search in an endless list': 'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);',
  'an endless fill': 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);',
  'a sort of a huge list': 'const a = []; a.length = 2 ** 32 - 1; a.sort();',
  'a huge number as text': 'String(2n ** 30000000n);',
};

/** Longest time on the processor between two turns of this thread's event loop, in milliseconds. */
function watchTurns(): { stop(): number } {
  let longest = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
  }, 1);
  return {
    stop: () => {
      clearInterval(timer);
      return longest;
    },
  };
}

describe('sandbox: hostile scripts', function () {
  this.timeout(20_000);
  let sandbox: Sandbox;
  /** Runs in the same process all the while. */
  let innocent: ScriptRun;
  let asked = 0;
  let turns: ReturnType<typeof watchTurns>;

  before(async () => {
    sandbox = await openSandbox({ workers: 1, memoryMb: 4096 });
    innocent = startScript(sandbox, {
      source: 'let n = 0; while (await echo(n)) { n++; await sleep(5); } return n;',
      limits: { cpuMs: 60_000 },
      onCommand: async (name) => {
        if (name === 'sleep') return new Promise((resolve) => setTimeout(resolve, 5));
        asked++;
        return !over;
      },
    });
    innocent.finished.catch(() => undefined);
    turns = watchTurns();
  });

  let over = false;
  after(() => sandbox.close());

  for (const [name, entry] of Object.entries(HOSTILE)) {
    const [source, code] = typeof entry === 'string' ? [entry, 'limit'] : entry;
    it(`end with a typed error: ${name}`, async () => {
      const before = asked;
      const run = startScript(sandbox, {
        source,
        limits: { activationMs: 150, cpuMs: 1000, memoryMb: 16 },
        onCommand: async (command, args) => {
          if (command === 'sleep') return new Promise(() => undefined);
          run.emit({ type: 'go' });
          return args;
        },
      });
      const error = await errorOf(run);
      // On a busy machine the time may be up before V8 refuses.
      expect(error.code, error.message).to.be.oneOf([code, 'limit']);
      await progress(before);
    });
  }

  for (const [name, source] of Object.entries(UNSTOPPABLE)) {
    it(`end with a typed error, although they go on: ${name}`, async () => {
      const before = asked;
      const error = await errorOf(startScript(sandbox, { source, limits: { activationMs: 100 } }));
      expect(error.code, error.message).to.equal('limit');
      await progress(before);
    });
  }

  it('harmed neither the run beside them nor the host', async () => {
    over = true;
    expect((await innocent.finished).value).to.be.greaterThan(100);
    // A script on this thread would hold it for the 100 ms of its limit; collecting this process's own garbage takes 25.
    expect(turns.stop()).to.be.lessThan(100);
  });

  it('leave a sandbox that serves new runs', async () => {
    expect((await startScript(sandbox, { source: 'return 1' }).finished).value).to.equal(1);
  });

  /** The innocent run goes on. */
  async function progress(since: number): Promise<void> {
    const deadline = performance.now() + 5000;
    while (asked <= since + 1) {
      if (performance.now() > deadline) throw new Error('the run beside it stands still');
      // oxlint-disable-next-line eslint/no-await-in-loop
      await Promise.race([innocent.finished, new Promise((resolve) => setTimeout(resolve, 5))]);
    }
  }
});
