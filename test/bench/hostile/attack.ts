import { setTimeout as delay } from 'node:timers/promises';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import type { RestClient } from '../../phones/rest-client.ts';
import { hostileScenarios } from '../../support/hostile-scenarios.ts';

const SCRIPTS = '/rest/v1/domain/svcscripts';
const HOOKS = '/rest/v1/api/hooks';
/** Hostile runs at once. */
const AT_ONCE = 6;
const KILL_EVERY_MS = 2500;

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
    for (const { code, scriptdata } of hostileScenarios()) await attack.#store(code, scriptdata);
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

  async #store(code: string, scriptdata: object): Promise<void> {
    const answer = await this.#rest.send('POST', SCRIPTS, { body: { code, scriptdata } });
    if (answer.status !== 200) throw new Error(`${code}: ${answer.status} ${answer.text}`);
    const { problems } = answer.json<{ problems: readonly object[] }>();
    // Those that cannot be compiled are refused here, which is as good.
    if (problems.length === 0) this.#codes.push(code);
  }
}

/** Processes of the node that run scripts (proc(5)); a process of their own starts them. */
export function sandboxPids(nodePid: number): number[] {
  return childrenOf(nodePid)
    .flatMap(childrenOf)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sandbox/worker'));
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .map(Number)
    .filter((child) => child > 0);
}
