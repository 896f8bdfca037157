import { HOSTILE, UNSTOPPABLE, hostile } from './hostile-scripts.ts';

/** A scenario as a node stores it. */
export interface ScriptData {
  readonly format: 'js' | 'yaml';
  readonly source: string;
}

/** The longest that any of them may run, which they say themselves. */
const WALL = '4s';

/** Scenarios that misuse what a node offers; the scripts of `hostile-scripts.ts` misuse the language. */
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
    'starts: { event: storm, hook: true }\nstart: one\nblocks:\n  one: { publish: storm, next: two }\n  two: { publish: storm, next: end }\n',
  ),
  'a loop of blocks': yaml(
    'variables: { n: 0 }\nstart: a\nblocks:\n  a: { set: { n: "${n + 1}" }, next: b }\n  b: { if: n < 0, exits: { then: end, else: a } }\n',
  ),
  'a loop that hardly waits': yaml(
    'variables: { n: 0 }\nstart: a\nblocks:\n  a: { wait: 1ms, next: b }\n  b: { if: n < 0, exits: { then: end, else: a } }\n',
  ),
  'a text that doubles': yaml(
    'variables: { s: xxxxxxxxxxxxxxxx }\nstart: a\nblocks:\n  a: { set: { s: "${s + s}" }, next: b }\n  b: { if: s == "", exits: { then: end, else: a } }\n',
  ),
  'a list that doubles': yaml(
    'variables: { s: [1, 2, 3] }\nstart: a\nblocks:\n  a: { set: { s: "${s + s}" }, next: b }\n  b: { if: size(s) == 0, exits: { then: end, else: a } }\n',
  ),
  'the most that a script may ask for': {
    format: 'js',
    source: `export const limits = { cpu: '600s', activation: '5s', memory: 512, wall: '${WALL}' };\nexport default async function () { const all = []; for (;;) all.push(new Array(1000).fill(1)); }\n`,
  },
};

function module(body: string): ScriptData {
  return {
    format: 'js',
    source: `export const limits = { wall: '${WALL}' };\nexport default async function (call, args) {\n${body}\n}\n`,
  };
}

function yaml(source: string): ScriptData {
  return { format: 'yaml', source: `limits: { wall: ${WALL} }\n${source}` };
}

/** A script of the language list with the functions that it expects. */
function ofLanguage(name: string): ScriptData {
  const helpers = "const echo = (...args) => call.info(...args); const sleep = (ms) => globalThis.sleep(ms + 'ms');";
  return module(`${helpers} return await (async (vars, args) => {\n${hostile(name).source}\n})({}, {});`);
}

/** Every hostile script as a scenario for requests, with the code it is to have. */
export function hostileScenarios(): { readonly code: string; readonly scriptdata: ScriptData }[] {
  const names = [...Object.keys(HOSTILE), ...Object.keys(UNSTOPPABLE)];
  const language = names.map((name) => [name, ofLanguage(name)] as const);
  return [...language, ...Object.entries(SCENARIOS)].map(([name, scriptdata]) => ({
    code: name.replaceAll(/\W+/g, '-'),
    scriptdata,
  }));
}
