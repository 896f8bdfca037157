/** Limits of a run outside of its isolate. */
import type { LimitName, ScriptLimits, ScriptUsage } from '../limits.ts';

/** Name of the command that counts as a timer. */
const TIMER = 'sleep';

/** Counts what a run does outside its isolate. Each `count` returns the exceeded limit, if any. */
export class Budget {
  readonly #limits: ScriptLimits;
  readonly #pending = new Map<number, string>();
  #timers = 0;
  #commands = 0;
  /** Commands of this turn, including immediately cancelled ones. */
  #inTurn = 0;
  #logLines = 0;
  #logBytes = 0;

  /** @param used before, at another node */
  constructor(limits: ScriptLimits, used?: ReturnType<Budget['usage']>) {
    this.#limits = limits;
    this.#commands = used?.commands ?? 0;
    this.#logLines = used?.logLines ?? 0;
    this.#logBytes = used?.logBytes ?? 0;
  }

  /** Starts counting the output of a turn. */
  beginTurn(): void {
    this.#inTurn = 0;
  }

  /** A command that was counted at another node begins again. */
  again(id: number, name: string): void {
    this.#pending.set(id, name);
    if (name === TIMER) this.#timers++;
  }

  countCommand(id: number, name: string): LimitName | undefined {
    this.#commands++;
    this.#inTurn++;
    this.again(id, name);
    if (this.#commands > this.#limits.commands) return 'commands';
    if (Math.max(this.#pending.size, this.#inTurn) > this.#limits.pendingCommands) return 'pendingCommands';
    return this.#timers > this.#limits.timers ? 'timers' : undefined;
  }

  /** A command was answered or cancelled. */
  settle(id: number): void {
    if (this.#pending.get(id) === TIMER) this.#timers--;
    this.#pending.delete(id);
  }

  countLog(text: string): LimitName | undefined {
    this.#logLines++;
    this.#logBytes += Buffer.byteLength(text);
    if (this.#logLines > this.#limits.logLines) return 'logLines';
    return this.#logBytes > this.#limits.logBytes ? 'logBytes' : undefined;
  }

  usage(): Pick<ScriptUsage, 'commands' | 'logLines' | 'logBytes'> {
    return { commands: this.#commands, logLines: this.#logLines, logBytes: this.#logBytes };
  }
}
