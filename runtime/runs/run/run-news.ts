/** What followers are told of a run. They read the rest, such as variables, where their rights allow it. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Program, Value } from '../../language/index.ts';
import type { RunEventType, RunFollowers } from '../ports/run-followers.ts';
import type { RunView } from '../run-view.ts';
import type { RunOutcome } from './outcome.ts';
import type { TraceEntry } from './trace.ts';

/** What all of it names. */
export interface ToldRun {
  /** Id of the run at the top of its family, under which it is recorded. */
  readonly record: string;
  readonly id: string;
  readonly domain: DomainName;
  readonly program: Pick<Program, 'id' | 'version'>;
}

export class RunNews {
  readonly #run: ToldRun;
  readonly #followers: RunFollowers | undefined;

  /** @param followers undefined: nobody can follow it */
  constructor(run: ToldRun, followers: RunFollowers | undefined) {
    this.#run = run;
    this.#followers = followers;
  }

  began(call: { readonly callid: string; readonly from?: string; readonly to?: string }): void {
    this.#tell('run_begin', () => ({ ...call }));
  }

  entered({ step, branch, block, component }: TraceEntry): void {
    this.#tell('block_entered', () => ({ step, branch, block, component }));
  }

  /** @param code of its error, as its author may see it */
  ended({ status, steps, milliseconds }: RunOutcome, code: string | undefined): void {
    this.#tell('run_end', () => ({
      status,
      ...(code !== undefined && { error_code: code }),
      steps,
      milliseconds,
    }));
  }

  #tell(type: RunEventType, make: () => Readonly<Record<string, Value>>): void {
    const { domain, record, id, program } = this.#run;
    if (this.#followers?.follow(domain) !== true) return;
    const run = { id: record, runid: id, scenario: program.id, version: program.version };
    this.#followers.tell(domain, type, { ...run, ...make() });
  }
}

/** The end of a run whose node died. */
export function lostNews({ id, domain, scenario, version, outcome }: RunView, followers: RunFollowers): void {
  const news = new RunNews({ record: id, id, domain, program: { id: scenario, version } }, followers);
  if (outcome !== undefined) news.ended(outcome, outcome.error?.code);
}
