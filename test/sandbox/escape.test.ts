import { expect } from 'chai';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { errorOf, startScript } from './support.ts';

/** Sources whose value must be true (or as said): what a script finds when it looks for a way out. */
const FINDS: Readonly<Record<string, string>> = {
  'no host object': `return ['process', 'require', 'module', 'global', 'Buffer', 'fetch', 'setTimeout', 'queueMicrotask',
    'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'FinalizationRegistry', 'WeakRef'].every((name) => !(name in globalThis));`,
  'functions of its own context only': `
    const functions = [call.play, sleep, log, log.info, events.on, events.next, ScenarioError, console.log,
      sleep(1).cancel, events.on('x', () => {})];
    return functions.every((f) => {
      for (let o = f; o !== null; o = Object.getPrototypeOf(o)) {
        if (o === Error) continue;
        const { constructor } = o;
        if (constructor !== undefined && constructor !== Function && constructor !== Object) return false;
      }
      return true;
    });`,
  'frozen functions without a prototype of their own': `
    return [call, call.play, sleep, log, log.info, events, events.on, secrets, console].every(Object.isFrozen)
      && Object.getPrototypeOf(call.play) === null && Object.getPrototypeOf(call) === null
      && !('prototype' in call.play) && !('prototype' in log);`,
  'globals that cannot be replaced': `
    'use strict';
    let refused = 0;
    for (const name of ['call', 'sleep', 'log', 'events', '__scenario__']) {
      try { globalThis[name] = 1; } catch { refused++; }
      try { delete globalThis[name]; } catch { refused++; }
    }
    return refused === 10;`,
  'no caller of a function': `
    let found = true;
    function f() { try { found = f.caller === null || f.caller === undefined; } catch { found = true; } }
    await echo({ toJSON: f });
    return found;`,
  'no other ArrayBuffer': `
    const { constructor } = new Uint8Array(1).buffer;
    class Mine extends ArrayBuffer {}
    return constructor === ArrayBuffer && !('resize' in ArrayBuffer.prototype) && !new ArrayBuffer(8, { maxByteLength: 64 }).resizable
      && !new Mine(8, { maxByteLength: 64 }).resizable && new Mine(8).byteLength === 8 && ArrayBuffer.isView(new Uint8Array(1))
      && Reflect.construct(ArrayBuffer, [8, { maxByteLength: 64 }]).resizable === false;`,
  'lists that stay lists, whatever it has them written as': `
    Array.prototype.toJSON = () => ({ a: 1 });
    const answer = await echo([1], 2, undefined);
    return answer[0].a === 1 && answer[1] === 2 && answer[2] === null && answer.length === 3;`,
  'no module to import': "return import('node:fs').then(() => false, () => true);",
  'nothing behind the run function': 'return (await __scenario__(() => 1)) === undefined;',
  'no stack frames of functions it must not have': `
    Error.prepareStackTrace = (_, sites) => sites.map((s) => [s.getThis(), s.getFunction()]);
    const found = new Error().stack.flat();
    return found.every((x) => x === undefined || x === null || x === globalThis || typeof x === 'function');`,
};

describe('sandbox: a script that tries to escape', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  for (const [name, source] of Object.entries(FINDS)) {
    it(`finds ${name}`, async () => {
      const run = startScript(sandbox, { source, onCommand: async (_, args) => args });
      expect((await run.finished).value).to.equal(true);
    });
  }

  it('cannot reach or change messages through built-ins', async () => {
    const seen: unknown[] = [];
    const run = startScript(sandbox, {
      source: `
        const caught = [];
        const spy = (name) => function (...args) { caught.push(name); return args[0]; };
        JSON.stringify = spy('stringify'); JSON.parse = spy('parse');
        Promise.prototype.then = spy('then'); Set.prototype.add = spy('add'); Array.prototype.push = Array.prototype.push;
        Object.defineProperty(Array.prototype, '0', { set() { caught.push('0'); }, configurable: true });
        Object.defineProperty(Object.prototype, 'resolve', { set() { caught.push('resolve'); }, configurable: true });
        String.prototype.slice = spy('slice'); Reflect.apply = spy('apply'); Function.prototype.call = spy('call');
        Object.defineProperty(Object.prototype, 'get', { get() { caught.push('get'); return undefined; }, configurable: true });
        const answer = await echo({ a: 1 });
        log('still here');
        return [answer, caught];`,
      onCommand: async (name, args) => {
        seen.push([name, ...args]);
        return { b: 2 };
      },
      onLog: (_, text) => seen.push(text),
    });
    expect((await run.finished).value).to.deep.equal([{ b: 2 }, []]);
    expect(seen).to.deep.equal([['echo', { a: 1 }], 'still here']);
  });

  it('cannot put code outside of its function', async () => {
    for (const source of ['}); for (;;); (async function () {', 'return 1 }); globalThis.x = 1; ({ a() {']) {
      expect((await errorOf(startScript(sandbox, { source }))).name).to.equal('ScriptCompileError');
    }
    expect((await startScript(sandbox, { source: 'return "})" + `${"}"}`' }).finished).value).to.equal('})}');
  });

  it('cannot call a command that is not offered', async () => {
    const run = startScript(sandbox, { source: 'return typeof call.play', commands: ['sleep'] });
    expect((await errorOf(run)).message).to.match(/call is not defined/);
  });

  it('cannot forge answers or output through the text of its arguments', async () => {
    const asked: unknown[] = [];
    const run = startScript(sandbox, {
      source: `await echo('"],["done",42,null],["x'); return 'own';`,
      onCommand: async (_, args) => {
        asked.push(...args);
        return null;
      },
    });
    expect((await run.finished).value).to.equal('own');
    expect(asked).to.deep.equal(['"],["done",42,null],["x']);
  });
});
