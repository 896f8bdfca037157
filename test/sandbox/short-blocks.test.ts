import { expect } from 'chai';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { startScript } from './support.ts';

/** What a block does the second time; the first time it ends in its first turn. */
const SECOND: readonly (readonly [string, string])[] = [
  ['ends in its first turn again', 'return [1, vars];'],
  ['ends after some turns of the queue', 'for (let i = 0; i < 100; i++) await null; return "late";'],
  ['waits for a command', 'const said = await echo("a", 1); return said;'],
  ['listens', 'let n = 0; events.on("dtmf", () => n++); await sleep(1); return n;'],
  ['waits for what cannot happen', 'await new Promise(() => 0);'],
  ['throws', 'throw new ScenarioError("mine", "on purpose");'],
  ['throws after a command', 'await sleep(1); throw new Error("later");'],
  ['throws what is no error', 'throw undefined;'],
  ['logs and leaves a rejection unhandled', 'log("one"); Promise.reject(new Error("nobody")); return "done";'],
  ['leaves a command running', 'void sleep(60_000); return "over";'],
  ['goes on after its end', 'void (async () => { for (;;) await sleep(1); })(); return 1;'],
  ['returns what is no plain data', 'return 1n;'],
  ['says too much', 'return "x".repeat(100_000);'],
  ['never ends', 'for (;;);'],
  ['never ends, by promises', 'void (async () => { for (;;) await null; })(); await 0; return 1;'],
  ['takes too much memory', 'const all = []; for (;;) all.push(new Array(10_000).fill(all.length));'],
  ['changes promises', 'Promise.prototype.then = () => { throw new Error("then"); }; return "changed";'],
  [
    'changes what promises are made of',
    'Object.defineProperty(Promise.prototype, "constructor", { get() { throw new Error("species"); } }); return "so";',
  ],
  [
    'makes promises of another kind',
    'Object.defineProperty(Promise, Symbol.species, { get: () => function (f) { f(() => 0, () => 0); return { then: 1 }; } }); return 2;',
  ],
  [
    'works without end where promises are made',
    'Object.defineProperty(Promise, Symbol.species, { get() { for (;;); } }); return 3;',
  ],
];

describe('sandbox: a block whose last run ended in its first turn', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  for (const [name, second] of SECOND) {
    it(`behaves like any other when it ${name}`, async () => {
      const source = `if (vars.first) return "first";\n${second}`;
      const never = await outcome(sandbox, source, `never ${name}`, { first: false });
      const version = `after ${name}`;
      expect(await outcome(sandbox, source, version, { first: true })).to.include({ value: 'first' });
      expect(await outcome(sandbox, source, version, { first: false })).to.deep.equal(never);
    });
  }

  it('reports the memory it held', async () => {
    const source = 'if (vars.first) return 1; globalThis.kept = new Array(1e6).fill(1.5); return 2;';
    const run = (first: boolean): Promise<number> =>
      startScript(sandbox, { source, version: 'memory', vars: { first } }).finished.then(
        ({ usage }) => usage.memoryBytes,
      );
    const before = await run(true);
    expect(await run(false)).to.be.greaterThan(before + 7_000_000);
  });
});

/** All that a caller learns of a run, but for how long it took. */
async function outcome(sandbox: Sandbox, source: string, version: string, vars: { first: boolean }): Promise<object> {
  const logs: string[] = [];
  const limits = { activationMs: 100, cpuMs: 1000, memoryMb: 16, messageBytes: 50_000 };
  const onLog = (level: string, text: string): number => logs.push(`${level} ${text}`);
  const { finished } = startScript(sandbox, { source, version, vars, limits, onLog });
  try {
    const { value, vars: left } = await finished;
    return { value, left, logs };
  } catch (error) {
    const { name, message, code, limit } = error as Error & { code?: string; limit?: string };
    return { name, message, code, limit, logs };
  }
}
