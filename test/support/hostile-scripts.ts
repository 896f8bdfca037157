/**
 * Bodies of scripts that try to harm other runs: `async function (vars, args)`, with the functions `echo`, which returns
 * its arguments, `sleep(milliseconds)`, `log` and `events`. Each must end with one of its codes.
 */
export type HostileScripts = Readonly<Record<string, string | readonly [source: string, ...codes: string[]]>>;

/** Memory inside and outside of the count of V8. */
const MEMORY: HostileScripts = {
  'a promise flood': 'const all = []; for (;;) all.push(new Promise(() => {}));',
  'arrays without end': 'const all = []; for (;;) all.push(new Array(1000).fill(1));',
  'a Map without end': 'const map = new Map(); for (let i = 0; ; i++) map.set(i, {});',
  'properties without end': "const o = {}; for (let i = 0; ; i++) o['k' + i] = i;",
  'symbols without end': 'const o = {}; for (;;) o[Symbol()] = 1;',
  'strings without end': "const all = []; for (;;) all.push('x'.repeat(2 ** 29 - 30).slice(1) + 'z');",
  'a flattened string': "return 'a'.repeat(2 ** 26).split('').length",
  'a replaced string': "const s = 'ab'.repeat(2 ** 27); const all = []; for (;;) all.push(s.replace(/a/g, 'cc'));",
  'formatters without end': [
    "const all = []; for (;;) all.push(new Intl.DateTimeFormat('de', { month: 'long' }).format);",
    'script',
  ],
  'formatters without end, a few at a time': [
    "const all = []; for (;;) { for (let i = 0; i < 200; i++) all.push(new Intl.DateTimeFormat('de', { dateStyle: 'full' })); await echo(); }",
    'script',
  ],
  'formatters of formatters': [
    "const all = [new Intl.NumberFormat('de')]; for (;;) { for (let i = 0; i < 200; i++) all.push(new (all.at(-1).constructor)('de')); await echo(); }",
    'script',
  ],
  'segments of long texts, a few at a time': [
    "const all = []; const s = new Intl.Segmenter('de').segment('ab '.repeat(1e4)); for (;;) { for (let i = 0; i < 20; i++) all.push(s[Symbol.iterator]()); await echo(); }",
    'script',
  ],
  'segments without end': [
    "const all = []; for (;;) all.push(new Intl.Segmenter('de', { granularity: 'word' }).segment('ab '.repeat(1e4))[Symbol.iterator]());",
    'script',
  ],
  'JSON without end': 'const all = Array.from({ length: 3e5 }, (_, i) => ({ i })); for (;;) JSON.stringify(all);',
  'a JSON bomb': "const s = '[' + '[],'.repeat(5e6) + '1]'; const all = []; for (;;) all.push(JSON.parse(s));",
  'a Set of growing texts': "const set = new Set(); for (let s = ''; ; s += 'x') set.add(s + Math.random());",
  'functions without end': "const all = []; for (let i = 0; ; i++) all.push(Function('return ' + i));",
  'regular expressions without end':
    "const all = []; for (let i = 0; ; i++) all.push(new RegExp('a{' + (i % 900) + '}b' + i)) && all.at(-1).test('a');",
  'errors with long stacks':
    'Error.stackTraceLimit = 1e6; const all = []; const f = (n) => { if (n > 0) return f(n - 1); all.push(new Error("x")); }; for (;;) f(1000);',
  'closures in generators':
    'const all = []; function* g(x) { yield x; } for (;;) { const it = g(new Array(100)); it.next(); all.push(it); }',
  'typed arrays without end': ['const all = []; for (;;) all.push(new Float64Array(1e5).fill(1));', 'script'],
  'a huge buffer': ['return new ArrayBuffer(2e9).byteLength', 'script'],
  'buffers without end': ['const all = []; for (;;) all.push(new ArrayBuffer(1e6));', 'script'],
  'transferred buffers': ['const all = []; for (;;) all.push(new ArrayBuffer(1e5).transfer(1e6));', 'script'],
  'growable buffers': [
    'const all = []; for (;;) { const b = new ArrayBuffer(8, { maxByteLength: 1e8 }); b.resize(1e8); all.push(b); }',
    'script',
  ],
  'WebAssembly memory': ['new WebAssembly.Memory({ initial: 1000 })', 'script'],
  'a text that is padded':
    "let s = 'x'; const all = []; for (;;) { s = s.padEnd(Math.min(s.length * 2, 2 ** 28), 'ab'); all.push([...s.slice(0, 1e5)]); }",
  'views of one buffer': 'const b = new ArrayBuffer(8); const all = []; for (;;) all.push(new DataView(b));',
  'a list that says it can be spread':
    'const all = []; for (;;) all.push([].concat({ length: 2 ** 28, [Symbol.isConcatSpreadable]: true }));',
  'shifted numbers': 'const all = []; for (let i = 1n; ; i++) all.push(1n << ((1n << 20n) + i));',
  'matches without end':
    "class R extends RegExp { exec() { return { index: 0, 0: '', length: 1 }; } } return 'abc'.replace(new R('x', 'g'), 'y');",
  'waits for an event without end': "const all = []; for (;;) all.push(events.next('e'));",
  'promises that wait for promises':
    'const f = () => Promise.all(Array.from({ length: 1000 }, async () => { await null; return f(); })); await f();',
  'shared memory': ['const all = []; for (;;) all.push(new SharedArrayBuffer(1e6));', 'script'],
};

/** Processor time, and attempts to keep it. */
const LOOPS: HostileScripts = {
  'an endless loop': 'for (;;);',
  'an endless loop of awaits': 'for (;;) await 1;',
  'an endless loop that catches its end': 'for (;;) { try { for (;;); } catch { continue; } finally { for (;;); } }',
  'an endless loop in an async finally': 'await (async () => { try { for (;;) await 1; } finally { for (;;); } })();',
  'an endless loop in eval': "(0, eval)('for (;;);')",
  'an endless loop in a made function': "await (async () => {}).constructor('for (;;);')();",
  'a microtask flood': 'function flood() { Promise.resolve().then(flood).then(flood); } flood(); await sleep(1);',
  'a microtask flood after an answer': 'await echo(); for (;;) await null;',
  'an async generator flood': 'async function* g() { for (;;) yield 1; } for await (const x of g()) void x;',
  'a flood of imports': "for (;;) import('node:fs').catch(() => {});",
  'an endless loop in an event listener': "events.on('go', () => { for (;;); }); await echo('go'); await sleep(5000);",
  'a regex bomb': "return /^(a+)+$/.test('a'.repeat(50) + 'b')",
  'a regex bomb of alternatives': "return /^(a|a|a?)*$/.test('a'.repeat(40) + 'b')",
  'a regex bomb that looks behind': "return /(?<=c(a+)+)b/.test('a'.repeat(50) + 'b')",
  'a regex bomb in replace': "return ('x'.repeat(40)).replace(/(x+x+)+y/g, '').length",
  'brackets without end': ["return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('')", 'script'],
  'a sort that lies': 'const a = Array.from({ length: 1e7 }, () => 0); for (;;) a.sort(() => Math.random() - 0.5);',
  'a number made of many digits': "for (;;) BigInt('9'.repeat(1e6));",
  'numbers without end': 'let n = 3n; for (;;) n *= n;',
  'a text that is normalised': "const s = '\\u1e9b\\u0323'.repeat(2 ** 24); for (;;) s.normalize('NFKD');",
  'texts that are compared': "const s = 'ä'.repeat(1e6); for (;;) s.localeCompare(s + 'a', 'de');",
  'a getter in an error that never returns': 'throw { get stack() { for (;;); } };',
  'an unhandled error that cannot be read':
    "const e = new Error(); Object.defineProperty(e, 'stack', { get() { for (;;); } }); Promise.reject(e); await sleep(5000);",
  'a stack formatter that never returns':
    "Error.prepareStackTrace = () => { for (;;); }; Promise.reject(new Error('x')); await sleep(5000);",
  'a getter in place of the stack formatter':
    "Object.defineProperty(Error, 'prepareStackTrace', { get() { for (;;); } }); throw new Error('x');",
  'a code that never becomes a text': 'throw new ScenarioError({ toString() { for (;;); } }, "x");',
  'toJSON that never returns': 'await echo({ toJSON() { for (;;); } });',
  'toJSON of everything': 'Object.prototype.toJSON = function () { for (;;); }; await echo({ a: 1 });',
  'a thenable that never returns': 'return { then() { for (;;); } };',
  'a thenable that gives itself': 'const t = { then(resolve) { resolve(t); } }; return t;',
  'a proxy as argument': 'await echo(new Proxy({}, { ownKeys() { for (;;); } }));',
  'a proxy as event name': 'events.on(new Proxy({}, { get() { for (;;); } }), () => {});',
  'a species that never returns':
    'class A extends Array { static get [Symbol.species]() { for (;;); } } await echo(new A(1, 2).map((x) => x));',
  'a then on every object':
    "Object.defineProperty(Object.prototype, 'then', { get() { for (;;); } }); await echo({}); await sleep(5000);",
  'a promise constructor that never returns':
    "Object.defineProperty(Promise.prototype, 'constructor', { get() { for (;;); } }); await echo({}); await sleep(5000);",
  'a log that never returns': 'log({ toJSON() { for (;;); } });',
  'a deep recursion': ['function f() { f(); } f();', 'script'],
  'a list in itself': ['const a = []; a.push(a); return a.flat(Infinity).length', 'script'],
  'labels that lead to each other':
    'outer: for (;;) { inner: for (;;) { try { continue outer; } finally { continue inner; } } }',
  'a static block': 'class A { static { for (;;); } }',
  'an async iterator of thenables':
    'const it = { [Symbol.asyncIterator]() { return this; }, next: () => ({ then(r) { r({ done: false, value: it }); } }) }; for await (const x of it) void x;',
  'a resource that is never disposed of': 'await using a = { async [Symbol.asyncDispose]() { for (;;) await 0; } };',
  'a regex bomb of sets': "return /^(?:[\\p{L}&&[a-z]]+)+$/v.test('a'.repeat(60) + '1')",
  'dates in long texts': "const s = '1'.repeat(1e6); for (;;) Date.parse(s + ' ' + s);",
  'numbers that are divided': 'const a = 3n ** 300000n, b = 7n ** 90000n; for (;;) void (a / b);',
  'a has of a proxy':
    "Array.prototype.lastIndexOf.call(new Proxy({}, { get: (_, k) => (k === 'length' ? 2 ** 53 - 1 : 0), has: () => true }), 1);",
  'a log before an endless loop': "for (let i = 0; i < 500; i++) log('line', i); for (;;);",
  'a blocked thread': ['Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', 'script'],
};

/** Floods of commands to the host, and values that cannot be sent. */
const BORDER: HostileScripts = {
  'commands without end': 'for (;;) echo();',
  'commands one after the other': 'for (;;) await echo();',
  'commands of the largest size': "const s = 'x'.repeat(250_000); for (;;) await echo(s);",
  'commands that are hard to read':
    "const s = '[' + '{},'.repeat(80_000) + '0]'; const v = JSON.parse(s); for (;;) await echo(v);",
  'ten thousand sleeps': 'for (let i = 0; i < 10000; i++) sleep(100000);',
  'sleeps begun and cancelled':
    'for (;;) { const all = Array.from({ length: 30 }, () => sleep(1e5)); for (const one of all) { one.catch(() => {}); one.cancel(); } await echo(); }',
  'a log without end': "for (;;) log('x'.repeat(1000));",
  'empty lines without end': "for (;;) log('');",
  'a huge line': "log('\\u0000'.repeat(1e7));",
  'a huge argument': "await echo('x'.repeat(3e5));",
  'an argument of many parts': "await echo(Array(2e5).fill('ab'));",
  'an argument that grows': "await echo({ toJSON() { return 'x'.repeat(1e7); } });",
  'a huge result': "return 'x'.repeat(2 ** 22);",
  'a huge result of escapes': "return '\\u0001'.repeat(2 ** 20);",
  'a wide result': 'return Array(3e5).fill({});',
  'a deep result': [
    'let o = {}; for (let i = 0; i < 90; i++) o = { o }; for (let i = 0; i < 1e5; i++) o = [o]; return o',
    'script',
  ],
  'a result nested a little too deeply': ['let o = {}; for (let i = 0; i < 300; i++) o = { o }; return o', 'not_plain'],
  'a result with a key for prototypes': ['return JSON.parse(\'{"__proto__": {"polluted": 1}}\')', 'not_plain'],
  'a result whose getters call each other': [
    'return { get a() { return this.b; }, get b() { return this.a; } };',
    'script',
  ],
  'a result that is a proxy of itself': [
    "const p = new Proxy({}, { get: (_, k) => k === 'then' ? undefined : p, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) }); return p;",
    'script',
  ],
  'an argument that is a proxy of itself': [
    "const p = new Proxy({}, { get: (_, k) => k === 'toJSON' ? undefined : p, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) }); await echo(p);",
    'not_plain',
  ],
  'an argument with a getter that throws': ['await echo({ get a() { throw null; } });', 'not_plain'],
  'an error of another kind': ['throw null;', 'script'],
  'a huge error': ["throw new Error('x'.repeat(2 ** 24));", 'script'],
  'an error from a revoked proxy': [
    'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;',
    'script',
  ],
  'JSON as it is': "await echo(JSON.rawJSON('\"' + 'x'.repeat(300_000) + '\"'));",
  'a log of a hundred thousand lines': "for (let i = 0; i < 1e5; i++) log('line', i);",
  'an error that causes itself': ["const e = new Error('a'); e.cause = e; throw e;", 'script'],
  'an error with a huge code and stack': [
    "throw { code: 'c'.repeat(1e7), message: 'm'.repeat(1e7), stack: 's'.repeat(1e7) };",
    'c'.repeat(64),
  ],
  'an error that claims to be ours': [
    "throw Object.assign(new Error('Script execution timed out.'), { code: 'mine' });",
    'mine',
  ],
  'an error whose getters change': [
    "let n = 0; throw { get code() { return n++ ? {} : 'x'; }, get message() { return n++ ? Symbol('m') : 'm'; } };",
    'x',
    'script',
  ],
  'replaced functions of everything': [
    'for (const C of [Array, Promise, Set, Map, String, Function, Reflect, JSON, Object]) for (const o of [C, C.prototype]) for (const k of o ? Reflect.ownKeys(o) : []) { try { o[k] = () => { throw 1; }; } catch { continue; } } await echo(1);',
    'script',
    'not_plain',
    'stalled',
  ],
  'a promise that nobody settles': ['await new Promise(() => {});', 'stalled'],
  finalisation: ['new FinalizationRegistry(() => { for (;;); }).register({}, 1); return 1', 'script'],
  'the global object through a made function': ["return Function('return this')().process.exit(1)", 'script'],
  'a source that leaves its function': ['}); for (;;); (async () => {', 'compile'],
};

export const HOSTILE: HostileScripts = { ...LOOPS, ...MEMORY, ...BORDER };

/** Built-in functions V8 does not interrupt: the isolate cannot be stopped, and its process must be replaced. */
export const UNSTOPPABLE: Readonly<Record<string, string>> = {
  'a search in an endless list': 'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);',
  'an endless fill': 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);',
  'a sort of a huge list': 'const a = []; a.length = 2 ** 32 - 1; a.sort();',
  'a huge number as text': 'String(2n ** 30000000n);',
};

/** Source and codes of a script; by default the code is `limit`. */
export function hostile(name: string): { readonly source: string; readonly codes: readonly string[] } {
  const entry = HOSTILE[name] ?? UNSTOPPABLE[name] ?? '';
  const [source, ...codes] = typeof entry === 'string' ? [entry] : entry;
  // On a busy machine the time limit may come first.
  return { source, codes: codes.length === 0 ? ['limit'] : [...codes, 'limit'] };
}
