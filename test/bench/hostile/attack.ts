import { setTimeout as delay } from 'node:timers/promises';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import type { RestClient } from '../../phones/rest-client.ts';
import { HOSTILE, UNSTOPPABLE, hostile } from '../../support/hostile-scripts.ts';

const SCRIPTS = '/rest/v1/domain/svcscripts';
const HOOKS = '/rest/v1/api/hooks';
/** The longest that any of them may run, which the scripts say themselves. */
const WALL = '4s';
/** Hostile runs at once. */
const AT_ONCE = 6;
const KILL_EVERY_MS = 2500;

/** Scenarios that misuse what a node offers; the scripts of `hostile-scripts.ts` misuse the language. */
const SCENARIOS: Readonly<Record<string, { readonly format: 'js' | 'yaml'; readonly source: string }>> = {
  'requests without end': module(
    "for (;;) await Promise.all(Array.from({ length: 60 }, () => http.request({ url: 'http://127.0.0.1:1/' }).catch(() => {})));",
  ),
  'events without end': module(
    "for (;;) await Promise.all(Array.from({ length: 60 }, () => events.publish({ event: 'noise', data: { x: 'x'.repeat(1000) } })));",
  ),
  'scenarios that start each other': module(
    "for (;;) await scenario.run({ scenario: 'hostile-fork', mode: 'parallel', keep: true }).catch(() => sleep('10ms'));",
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

function module(body: string): { format: 'js'; source: string } {
  return {
    format: 'js',
    source: `export const limits = { wall: '${WALL}' };\nexport default async function (call, args) {\n${body}\n}\n`,
  };
}

function yaml(source: string): { format: 'yaml'; source: string } {
  return { format: 'yaml', source: `limits: { wall: ${WALL} }\n${source}` };
}

/** A script of the language list with the functions that it expects. */
function ofLanguage(name: string): { format: 'js'; source: string } {
  const helpers = "const echo = (...args) => call.info(...args); const sleep = (ms) => globalThis.sleep(ms + 'ms');";
  return module(`${helpers} return await (async (vars, args) => {\n${hostile(name).source}\n})({}, {});`);
}

/** How the hostile runs ended. */
export interface Attacked {
  readonly runs: number;
  /** Ended by a typed error, or by themselves. */
  readonly ended: number;
  /** By script and reason: what neither ended nor was refused in time. */
  readonly strange: readonly string[];
  readonly killed: number;
}

/** Hostile scripts of every kind in a node, started by requests over and over. */
export class Attack {
  readonly #rest: RestClient;
  readonly #codes: string[] = [];

  private constructor(rest: RestClient) {
    this.#rest = rest;
  }

  /** Stores all scripts. */
  static async prepare(rest: RestClient): Promise<Attack> {
    const attack = new Attack(rest);
    const language = [...Object.keys(HOSTILE), ...Object.keys(UNSTOPPABLE)].map(
      (name) => [name, ofLanguage(name)] as const,
    );
    for (const [name, scriptdata] of [...language, ...Object.entries(SCENARIOS)]) await attack.#store(name, scriptdata);
    return attack;
  }

  /** Names of the scripts. */
  get names(): readonly string[] {
    return this.#codes;
  }

  /** @param nodePid whose sandbox processes are killed now and then */
  async run(milliseconds: number, nodePid: number): Promise<Attacked> {
    const until = performance.now() + milliseconds;
    const result = { runs: 0, ended: 0, strange: [] as string[], killed: 0 };
    let next = 0;
    const attacker = async (): Promise<void> => {
      while (performance.now() < until) {
        const code = this.#codes[next++ % this.#codes.length] ?? '';
        result.runs += 1;
        const answer = await this.#rest.send('POST', `${HOOKS}/${code}?wait=15`, { body: {} });
        if ([200, 422].includes(answer.status)) result.ended += 1;
        else result.strange.push(`${code}: ${answer.status} ${answer.text.slice(0, 100)}`);
      }
    };
    const killer = async (): Promise<void> => {
      while (performance.now() < until) {
        await delay(KILL_EVERY_MS);
        const [pid] = sandboxPids(nodePid);
        if (pid === undefined) continue;
        process.kill(pid, 'SIGKILL');
        result.killed += 1;
      }
    };
    await Promise.all([...Array.from({ length: AT_ONCE }, attacker), killer()]);
    return result;
  }

  async #store(name: string, scriptdata: object): Promise<void> {
    const code = name === 'scenarios that start each other' ? 'hostile-fork' : name.replaceAll(/\W+/g, '-');
    const answer = await this.#rest.send('POST', SCRIPTS, { body: { code, name, scriptdata } });
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`);
    const { problems } = answer.json<{ problems: readonly object[] }>();
    // Those that cannot be compiled are refused here, which is as good.
    if (problems.length === 0) this.#codes.push(code);
  }
}

/** Processes of the node that run scripts (proc(5)). */
export function sandboxPids(nodePid: number): number[] {
  return readdirSync(`/proc/${nodePid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${nodePid}/task/${thread}/children`, 'utf8').split(' '))
    .map(Number)
    .filter((pid) => pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sandbox/worker'));
}
