import type { DomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';
import type { Message } from './mailbox.ts';
import type { RunOutcome } from './outcome.ts';
import type { Run } from './run.ts';
import type { Sensitive } from './sensitive.ts';

/** What `await_run` needs of a run, wherever it runs. */
export interface AwaitedRun {
  readonly program: Pick<Run['program'], 'id'>;
  readonly settled: Promise<Pick<RunOutcome, 'value' | 'error'>>;
}

/** The runs of other nodes. */
export interface RunsElsewhere {
  /**
   * Delivers a message; false when no node has the run.
   * @param sensitive values of the sender
   * @throws ScenarioError code `node_unreachable`
   */
  send(domain: DomainName, to: string, message: Message, sensitive: Sensitive): Promise<boolean>;
  /**
   * Finds a live run. Its `settled` rejects with ScenarioError code `no_such_run` when its node dies.
   * @param sensitive takes the sensitive values in what the run returns
   * @param signal ends the wait for its end
   * @throws ScenarioError code `node_unreachable`
   */
  find(domain: DomainName, id: string, sensitive: Sensitive, signal: AbortSignal): Promise<AwaitedRun | undefined>;
}

/** Ended runs whose outcome is known to those that wait for it a moment too late. */
const MAX_ENDED = 1000;

/** What is left of an ended run. */
type EndedRun = Pick<Run, 'domain' | 'sensitive' | 'settled'> & { readonly program: AwaitedRun['program'] };

/** Live runs by id, for messages between runs. */
export class RunBook {
  readonly #runs = new Map<string, Run>();
  readonly #ended = new Map<string, EndedRun>();
  /** Undefined on a single node. */
  elsewhere: RunsElsewhere | undefined;

  get size(): number {
    return this.#runs.size;
  }

  /** Keeps the run until its end. */
  add(run: Run): void {
    this.#runs.set(run.id, run);
    void run.finished.then(() => {
      this.#runs.delete(run.id);
      // Another node has it.
      if (run.isTaken) return;
      const { id: program } = run.program;
      this.#ended.set(run.id, {
        domain: run.domain,
        sensitive: run.sensitive,
        settled: run.settled,
        program: { id: program },
      });
      const [oldest] = this.#ended.keys();
      if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    });
  }

  /** A run of the domain, live or one of the latest ended ones. */
  known(domain: DomainName, id: string): EndedRun | undefined {
    const run = this.#runs.get(id) ?? this.#ended.get(id);
    return run?.domain === domain ? run : undefined;
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  /**
   * A run of the domain, live or one of the latest ended ones, at any node.
   * @param sensitive takes the sensitive values in what the run returns
   * @param signal ends the wait for its end
   * @throws ScenarioError code `node_unreachable`
   */
  async find(
    domain: DomainName,
    id: string,
    sensitive: Sensitive,
    signal: AbortSignal,
  ): Promise<AwaitedRun | undefined> {
    const run = this.known(domain, id);
    if (run === undefined) return await this.elsewhere?.find(domain, id, sensitive, signal);
    const settled = run.settled.then((outcome) => {
      sensitive.learn(run.sensitive, told(outcome));
      return outcome;
    });
    return { program: run.program, settled };
  }

  /**
   * Delivers a message to a live run of the domain, wherever it runs; false when there is none.
   * @param sensitive values of the sender
   * @throws ScenarioError code `node_unreachable`
   */
  send(domain: DomainName, to: string, message: Message, sensitive: Sensitive): boolean | Promise<boolean> {
    const run = this.#runs.get(to);
    if (run !== undefined) return run.domain === domain && run.send(message);
    return this.elsewhere?.send(domain, to, message, sensitive) ?? false;
  }

  runs(): readonly Run[] {
    return [...this.#runs.values()];
  }
}

/** What an outcome tells the run that waits for it. */
export function told({ value = null, error }: Pick<RunOutcome, 'value' | 'error'>): Value {
  return [value, error?.message ?? null];
}
