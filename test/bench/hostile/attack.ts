import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RestClient } from '../../phones/rest-client.ts';
import { hostileScenarios } from '../../support/hostile-scenarios.ts';
import { QUIET_GC } from './quiet-gc.ts';

const SCRIPTS = '/rest/v1/domain/svcscripts';
const ATTACKER = fileURLToPath(new URL('attacker.ts', import.meta.url));

/** Arguments of an attacker. */
export interface AttackOrder {
  readonly base: string;
  readonly token: string | undefined;
  readonly codes: readonly string[];
  readonly milliseconds: number;
  readonly nodePid: number;
}

/** The results of the hostile runs. */
export interface Attacked {
  readonly runs: number;
  /** Ended by a typed error, or by themselves. */
  readonly ended: number;
  /** Runs that neither ended nor were refused in time, by script and reason. */
  readonly strange: readonly string[];
  readonly killed: number;
}

/** Hostile scripts of every kind in a node, started by requests repeatedly. */
export class Attack {
  readonly #rest: RestClient;
  readonly #codes: string[] = [];
  readonly #attacker: ChildProcess;
  readonly #gone: Promise<never>;

  private constructor(rest: RestClient) {
    this.#rest = rest;
    this.#attacker = fork(ATTACKER, { execArgv: [...QUIET_GC] });
    this.#gone = once(this.#attacker, 'exit').then(() => Promise.reject(new Error('the attacking process is gone')));
    // It is also closed at the end.
    this.#gone.catch(() => undefined);
  }

  /** Stores all scripts, and starts the process that will start them: starting a process blocks for a while. */
  static async prepare(rest: RestClient): Promise<Attack> {
    const attack = new Attack(rest);
    for (const { code, scriptdata } of hostileScenarios()) await attack.#store(code, scriptdata);
    return attack;
  }

  /** Names of the scripts. */
  get names(): readonly string[] {
    return this.#codes;
  }

  /**
   * Starts them repeatedly, from a separate process so that the listeners are not delayed.
   * @param nodePid node whose sandbox processes are sometimes killed
   */
  async run(milliseconds: number, nodePid: number): Promise<Attacked> {
    const { base, token } = this.#rest;
    this.#attacker.send({ base, token, codes: this.#codes, milliseconds, nodePid } satisfies AttackOrder);
    const [attacked] = (await Promise.race([once(this.#attacker, 'message'), this.#gone])) as [Attacked];
    return attacked;
  }

  close(): void {
    this.#attacker.disconnect();
  }

  async #store(code: string, scriptdata: object): Promise<void> {
    const answer = await this.#rest.send('POST', SCRIPTS, { body: { code, scriptdata } });
    if (answer.status !== 200) throw new Error(`${code}: ${answer.status} ${answer.text}`);
    const { problems } = answer.json<{ problems: readonly { readonly severity?: string }[] }>();
    // Scripts that cannot be compiled are refused here, which is right, too.
    if (problems.every(({ severity }) => severity === 'warning')) this.#codes.push(code);
  }
}
