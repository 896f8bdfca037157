/** Hands a module that waits over to another node. */
import type { ComponentDefinition, ModuleSource } from '../../language/index.ts';
import { repetitionText, type ScriptRun } from '../../sandbox/index.ts';
import type { RunState } from './run-state.ts';
import type { SavedModule, SavedState, SavedWait } from './saved-run.ts';

/** What another node needs, without what all runs have. */
export interface HandedOver {
  readonly state: SavedState;
  readonly module: Omit<SavedModule, 'memories'>;
}

/** Knows what a module waits for. Asks before the module goes on: another node may have it. */
export class Handover {
  readonly #state: RunState;
  readonly #resumed: SavedModule | undefined;
  readonly #onTaken: (reason: string) => void;
  /** Functions in progress that may begin again at another node, by their commands. */
  readonly #waits = new Map<number, SavedWait>();
  /** Time at which the script, or one of its functions, last went on. */
  #active: number;
  /** False for a module that ends with its node. */
  #mayMove: boolean;
  #isTaken = false;

  /** @param resumed another node began it @param onTaken called once, when another node has it */
  constructor(
    state: RunState,
    module: ModuleSource,
    resumed: SavedModule | undefined,
    onTaken: (reason: string) => void,
  ) {
    this.#state = state;
    this.#resumed = resumed;
    this.#onTaken = onTaken;
    this.#active = state.clock.now();
    this.#mayMove = state.services.keeper !== undefined && !usesSecrets(module);
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** A function begins. @returns it, as another node began it */
  begins(id: number): SavedWait | undefined {
    this.#active = this.#state.clock.now();
    return this.#resumed?.waits.find((wait) => wait.id === id);
  }

  /** A function is in progress. */
  runs({ resumes }: ComponentDefinition, wait: SavedWait): void {
    if (this.#mayMove && resumes === true) this.#waits.set(wait.id, wait);
  }

  /** A function has ended: the script goes on unless another node has the run. */
  ended(id: number): true | Promise<boolean> {
    const isMine = this.isMine();
    if (isMine === true) this.#waits.delete(id);
    return isMine === true || isMine.finally(() => this.#waits.delete(id));
  }

  /** Does what the script will notice, unless another node has the run. */
  goOn(work: () => void): void {
    const isMine = this.isMine();
    if (isMine === true) return work();
    void isMine.then((goesOn) => {
      if (goesOn) work();
    });
  }

  /**
   * What another node needs; undefined unless the module has waited so long for what may come to any node.
   * @param pending number of functions in progress
   */
  save(waitedMs: number, pending: number, script: ScriptRun | undefined): Promise<HandedOver | undefined> | undefined {
    const isWaiting = pending === this.#waits.size && this.#state.clock.now() - this.#active >= waitedMs;
    const state = this.#mayMove && isWaiting ? this.#state.save() : undefined;
    return state && script && this.#save(state, script);
  }

  async #save(state: SavedState, running: ScriptRun): Promise<HandedOver | undefined> {
    const script = await running.save();
    if (typeof script === 'string') {
      this.#mayMove = false;
      const { id, program, log } = this.#state;
      const reason = `its script ${repetitionText(script)}`;
      log.warn({ run: id, scenario: program.id, reason }, 'a waiting run would end with its node');
    }
    if (typeof script !== 'object') return undefined;
    const waits = [...this.#waits.values()];
    // The answer of another function may still be on its way to the script.
    const isWhole = script.pending.length === waits.length && script.pending.every(({ id }) => this.#waits.has(id));
    return isWhole ? { state, module: { script, waits } } : undefined;
  }

  /** Asks before the run goes on, or ends. False when another node has it: it ends here without a word. */
  isMine(): true | Promise<boolean> {
    this.#active = this.#state.clock.now();
    const goesOn = !this.#isTaken && (this.#state.services.keeper?.goesOn(this.#state.id) ?? true);
    return goesOn === true || this.#unlessTaken(goesOn);
  }

  async #unlessTaken(goesOn: boolean | Promise<boolean>): Promise<boolean> {
    const isMine = await goesOn;
    if (isMine || this.#isTaken) return isMine;
    this.#isTaken = true;
    this.#onTaken('another node has taken it over');
    return false;
  }
}

/** True for a module that names `secrets`: their placeholders differ at each node, and answers may hold the values. */
function usesSecrets({ source, modules }: ModuleSource): boolean {
  return [source, ...modules.map((each) => each.source)].some((text) => /\bsecrets\b/.test(text));
}
