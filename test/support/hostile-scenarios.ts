import { HOSTILE, UNSTOPPABLE, hostile } from './hostile-scripts.ts';

/** A scenario in the form that a node stores. */
export interface ScriptData {
  readonly format: 'js' | 'ts' | 'yaml';
  readonly source: string;
}

/** The longest running time of each, set by the scenario itself. */
const WALL = '4s';

/** Scenarios that misuse the services of a node; the scripts of `hostile-scripts.ts` misuse the language. */
const SCENARIOS: Readonly<Record<string, ScriptData>> = {
  'requests without end': module(
    "for (;;) await Promise.all(Array.from({ length: 60 }, () => http.request({ url: 'http://127.0.0.1:1/' }).catch(() => {})));",
  ),
  'events without end': module(
    "for (;;) await Promise.all(Array.from({ length: 60 }, () => events.publish({ event: 'noise', data: { x: 'x'.repeat(1000) } })));",
  ),
  'scenarios that start each other': module(
    "for (;;) await scenario.run({ scenario: 'scenarios-that-start-each-other', mode: 'parallel', keep: true }).catch(() => sleep('10ms'));",
  ),
  'an event that starts itself': yaml(
    `starts: { event: storm, hook: true }
start: one
blocks:
  one: { publish: storm, next: two }
  two: { publish: storm, next: end }
`,
  ),
  'a loop of blocks': yaml(
    `variables: { n: 0 }
start: a
blocks:
  a: { set: { n: "\${n + 1}" }, next: b }
  b: { if: n < 0, exits: { then: end, else: a } }
`,
  ),
  'a loop that hardly waits': yaml(
    `variables: { n: 0 }
start: a
blocks:
  a: { wait: 1ms, next: b }
  b: { if: n < 0, exits: { then: end, else: a } }
`,
  ),
  'a text that doubles': yaml(
    `variables: { s: xxxxxxxxxxxxxxxx }
start: a
blocks:
  a: { set: { s: "\${s + s}" }, next: b }
  b: { if: s == "", exits: { then: end, else: a } }
`,
  ),
  'a list that doubles': yaml(
    `variables: { s: [1, 2, 3] }
start: a
blocks:
  a: { set: { s: "\${s + s}" }, next: b }
  b: { if: size(s) == 0, exits: { then: end, else: a } }
`,
  ),
  'functions begun and cancelled without end': module(
    "for (;;) { for (let i = 0; i < 2000; i++) { const one = events.wait({ event: 'never' }); one.catch(() => {}); one.cancel(); } await scenario.info(); }",
  ),
  'large messages to itself': module(
    "const { run: to } = await scenario.info(); for (;;) await scenario.send({ to, message: 'x', data: 'é'.repeat(250000) });",
  ),
  'a family that sends itself large messages': module(
    "const { run: to, id } = await scenario.info(); for (let i = 0; !args.child && i < 50; i++) await scenario.run({ scenario: id, mode: 'parallel', args: { child: true } }); for (;;) { await scenario.send({ to, message: 'x', data: 'é'.repeat(250000) }); await sleep('1ms'); }",
  ),
  'messages that answer each other': module(
    "const { run: to } = await scenario.info(); events.on('message', () => { for (let i = 0; i < 2; i++) scenario.send({ to, message: 'x' }).catch(() => {}); }); await scenario.send({ to, message: 'x' }); await sleep('20s');",
  ),
  'reported fields without end': module(
    "for (let i = 0; ; i++) await report({ milestone: 'm', fields: { ['k' + i]: 'x'.repeat(200000) } });",
  ),
  'rejections that nobody handles': module(
    "for (;;) { for (let i = 0; i < 1000; i++) Promise.reject({ get message() { return 'x'.repeat(1e5); } }); await sleep('1ms'); }",
  ),
  'a source that is nested too deeply': {
    format: 'ts',
    source: `export default async (call: Call) => ${'('.repeat(3000)}1${')'.repeat(3000)};\n`,
  },
  'a loop at the top of a module': {
    format: 'js',
    source: `let i = 0;
while (i < 7) { await 1; i = (i + 1) % 7; }
export default async () => 1;
`,
  },
  'an error at the top of a module that cannot be read': {
    format: 'js',
    source: `throw new Proxy(new Error(), { get() { for (;;); }, getPrototypeOf() { for (;;); } });
export default async () => 1;
`,
  },
  'a text that is a large regular expression': module(
    "new RegExp('[' + '[a-z]&&'.repeat(2e6) + '[a-z]]', 'v').test('b');",
  ),
  'a native loop': module(
    'const step = { next: Object.bind(null, { done: false, value: 0 }) }; new Set({ [Symbol.iterator]: Object.bind(null, step) });',
  ),
  'the most that a script may ask for': {
    format: 'js',
    source: `export const limits = { cpu: '600s', activation: '5s', memory: 512, wall: '${WALL}' };
export default async function () { const all = []; for (;;) all.push(new Array(1000).fill(1)); }
`,
  },
};

function module(body: string): ScriptData {
  return {
    format: 'js',
    source: `export const limits = { wall: '${WALL}' };
export default async function (call, args) {
${body}
}
`,
  };
}

function yaml(source: string): ScriptData {
  return { format: 'yaml', source: `limits: { wall: ${WALL} }\n${source}` };
}

/** A script of `hostile-scripts.ts` with the functions it expects. */
function ofLanguage(name: string): ScriptData {
  const helpers = "const echo = (...args) => call.info(...args); const sleep = (ms) => globalThis.sleep(ms + 'ms');";
  return module(`${helpers} return await (async (vars, args) => {
${hostile(name).source}
})({}, {});`);
}

/** Every hostile script as a scenario for requests, with its expected code. */
export function hostileScenarios(): { readonly code: string; readonly scriptdata: ScriptData }[] {
  const names = [...Object.keys(HOSTILE), ...Object.keys(UNSTOPPABLE)];
  const language = names.map((name) => [name, ofLanguage(name)] as const);
  return [...language, ...Object.entries(SCENARIOS)].map(([name, scriptdata]) => ({
    code: name.replaceAll(/\W+/g, '-'),
    scriptdata,
  }));
}
