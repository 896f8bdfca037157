/** Runs that wait without a call: the database keeps them, and a living node goes on with those of a dead one. */
import { sql } from 'kysely';
import type { KeptRun, RunKeeper, SavingRun, ScenarioRunner } from '../../runs/index.ts';
import type { Storage } from '../../storage/index.ts';
import type { Log } from '../log.ts';
import type { Membership } from '../members/membership.ts';

/** Milliseconds between two looks, and of a wait that is worth a row. */
const LOOK_MS = 1000;
const WAITED_MS = 5000;
/** Milliseconds after its start in which a node hears of all living ones: the runs of others are of dead ones. */
const KNOWN_MS = 3000;
/** Milliseconds between two looks for runs that no node took, such as while all of them drained. */
const LEFT_MS = 30_000;
/** Rows that a node takes at once, so that several share those of a dead one. */
const SHARE = 20;

export interface WaitingNeeds {
  readonly storage: Pick<Storage, 'db'>;
  readonly members: Pick<Membership, 'isConnected' | 'others' | 'listen'>;
  /** Of this process. */
  readonly id: string;
  /** True while this node starts no runs of others. */
  readonly isFull: () => boolean;
  readonly log: Log;
}

/** The row of a run. */
interface Row {
  /** False: it could not be written, or the run ends with its node. */
  readonly written: Promise<boolean>;
  /** The run is about to go on: false when another node has it. */
  goesOn?: Promise<boolean>;
}

export class WaitingRuns implements RunKeeper {
  readonly #needs: WaitingNeeds;
  /** Of this node's runs. One that another node has stays, so that nothing of the run goes on here. */
  readonly #rows = new Map<string, Row>();
  /** Runs that went on without the database, whose rows are out of date. */
  readonly #stale = new Set<string>();
  #sweeping = false;
  #runner: Pick<ScenarioRunner, 'save' | 'resume'> | undefined;
  /** Takes a run that nobody can go on with. */
  #lost: ((kept: KeptRun, reason: string) => void) | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #taking: Promise<void> | undefined;
  #isLeaving = false;

  constructor(needs: WaitingNeeds) {
    this.#needs = needs;
  }

  /** Begins to keep runs, and to take those of dead nodes. @param lost records a run that nobody can go on with */
  start(runner: Pick<ScenarioRunner, 'save' | 'resume'>, lost: (kept: KeptRun, reason: string) => void): void {
    this.#runner = runner;
    this.#lost = lost;
    this.#timers.push(
      setInterval(() => this.#keep(), LOOK_MS).unref(),
      setTimeout(() => void this.#take(), KNOWN_MS).unref(),
      setInterval(() => void this.#take(), LEFT_MS).unref(),
    );
    this.#needs.members.listen({ gone: () => void this.#take() });
  }

  goesOn(run: string): boolean | Promise<boolean> {
    const row = this.#rows.get(run);
    if (row === undefined) return true;
    row.goesOn ??= this.#goesOn(run, row);
    return row.goesOn;
  }

  /** The rows stay for the other nodes, or for the next start. */
  close(): void {
    this.#isLeaving = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #goesOn(run: string, row: Row): Promise<boolean> {
    const isMine = !(await row.written) || (!this.#isLeaving && (await this.#giveUp(run)));
    if (isMine) this.#drop(run, row);
    return isMine;
  }

  #drop(run: string, row: Row): void {
    if (this.#rows.get(run) === row) this.#rows.delete(run);
  }

  /** @returns false when another node has the row */
  async #giveUp(run: string): Promise<boolean> {
    try {
      return (await this.#delete([run])) > 0;
    } catch (err) {
      // Without the database no other node has taken it.
      this.#needs.log.warn({ err, run }, 'a run goes on, and its row in the database stays until that is back');
      this.#stale.add(run);
      return true;
    }
  }

  /** @returns the number of rows that were this node's */
  async #delete(runs: readonly string[]): Promise<number> {
    const { storage, id } = this.#needs;
    const { rows } = await sql`
      delete from waiting_runs
      where run in (select jsonb_array_elements_text(${JSON.stringify(runs)}::jsonb)) and process = ${id}
      returning run`.execute(storage.db);
    return rows.length;
  }

  /** Deletes rows that are out of date, from which no other node may go on. */
  async #sweep(): Promise<void> {
    if (this.#stale.size === 0 || this.#sweeping) return;
    this.#sweeping = true;
    const stale = [...this.#stale];
    try {
      await this.#delete(stale);
      for (const run of stale) this.#stale.delete(run);
    } catch (err) {
      this.#needs.log.debug({ err, runs: stale.length }, 'rows of runs that went on still stay');
    }
    this.#sweeping = false;
  }

  #keep(): void {
    if (this.#isLeaving) return;
    void this.#sweep();
    const fresh = this.#runner?.save(WAITED_MS, (run) => this.#rows.has(run) || this.#stale.has(run)) ?? [];
    if (fresh.length === 0) return;
    const written = this.#write(fresh);
    for (const { id } of fresh) {
      const row: Row = { written: written.then((runs) => runs.has(id)) };
      this.#rows.set(id, row);
      // It is looked at again.
      void row.written.then((isWritten) => isWritten || this.#drop(id, row));
    }
  }

  /** @returns the runs with a row, none when the database did not take them */
  async #write(saving: readonly SavingRun[]): Promise<ReadonlySet<string>> {
    const { storage, id, log } = this.#needs;
    const kept = (await Promise.all(saving.map((each) => each.kept))).filter((each) => each !== undefined);
    if (kept.length === 0) return new Set();
    const rows = JSON.stringify(kept.map((each) => ({ run: each.run.id, state: JSON.stringify(each) })));
    try {
      await sql`
        insert into waiting_runs (run, process, state)
        select run, ${id}, state from jsonb_to_recordset(${rows}::jsonb) as kept (run text, state text)
        on conflict (run) do update set process = excluded.process, state = excluded.state`.execute(storage.db);
      return new Set(kept.map(({ run }) => run.id));
    } catch (err) {
      log.warn({ err, runs: kept.length }, 'waiting runs are not kept for other nodes yet');
      return new Set();
    }
  }

  async #take(): Promise<void> {
    if (this.#taking !== undefined) {
      await this.#taking;
      return await this.#take();
    }
    this.#taking = this.#takeAll().catch((err: unknown) => {
      this.#needs.log.warn({ err }, 'the waiting runs of a dead node were not taken over');
      this.#timers.push(setTimeout(() => void this.#take(), KNOWN_MS).unref());
    });
    await this.#taking;
    this.#taking = undefined;
  }

  /** Takes runs whose process is no living member, some at a time. */
  async #takeAll(): Promise<void> {
    const { storage, members, id, isFull } = this.#needs;
    while (members.isConnected && !isFull() && !this.#isLeaving) {
      const living = JSON.stringify([id, ...members.others.map((member) => member.id)]);
      const { rows } = await sql<{ readonly run: string; readonly state: string }>`
        update waiting_runs set process = ${id} where run in (
          select run from waiting_runs
          where process not in (select jsonb_array_elements_text(${living}::jsonb)) limit ${SHARE} for update skip locked
        ) returning run, state`.execute(storage.db);
      if (rows.length === 0) return;
      for (const { run, state } of rows) {
        this.#rows.set(run, { written: Promise.resolve(true) });
        await this.#resume(JSON.parse(state) as KeptRun);
      }
    }
  }

  async #resume(kept: KeptRun): Promise<void> {
    const { log } = this.#needs;
    const { id: run, scenario, version } = kept.run;
    let reason = `version ${version} of the scenario, with which the run began, does not serve any more`;
    try {
      if ((await this.#runner?.resume(kept)) === true) {
        log.info({ run, scenario }, 'a waiting run of a dead node goes on here');
        return;
      }
    } catch (err) {
      reason = `the run cannot go on: ${err instanceof Error ? err.message : String(err)}`;
    }
    log.warn({ run, scenario, reason }, 'a waiting run of a dead node is lost');
    if (await this.goesOn(run)) this.#lost?.(kept, reason);
  }
}
