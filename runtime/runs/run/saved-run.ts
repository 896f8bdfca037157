/** A waiting run as JSON, with which another node goes on. */
import type { Value } from '../../language/index.ts';
import type { ScriptRecord } from '../../sandbox/index.ts';
import type { Clock } from '../clock.ts';
import type { Message } from './mailbox.ts';
import type { TraceEntry } from './trace.ts';

/** What a run has beside its scenario's own state. */
export interface SavedState {
  readonly trace: readonly TraceEntry[];
  readonly steps: number;
  readonly messages: readonly Message[];
  readonly reported: Readonly<Record<string, Value>>;
  readonly value?: Value;
}

/** Where a scenario of blocks waits. */
export interface SavedBlocks {
  readonly block: string;
  /** Begin of the block, milliseconds since the epoch. */
  readonly began: number;
  readonly variables: Readonly<Record<string, Value>>;
  /** Results of the blocks, the last error, the event of the last interrupt. */
  readonly held: Readonly<Record<string, Value>>;
  readonly memories: Readonly<Record<string, Readonly<Record<string, Value>>>>;
}

/** A function of a module that waits. */
export interface SavedWait {
  /** Of its command in the script. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly began: number;
  /** Of its trace entry. */
  readonly step: number;
}

/** Where a module waits. */
export interface SavedModule {
  readonly script: ScriptRecord;
  readonly waits: readonly SavedWait[];
  readonly memories: SavedBlocks['memories'];
}

/** @property blocks of a scenario of blocks @property module of a module */
export interface SavedRun {
  readonly id: string;
  readonly domain: string;
  readonly scenario: string;
  readonly version: string;
  readonly hash?: string;
  readonly file: string;
  readonly language: string;
  readonly args: Readonly<Record<string, Value>>;
  /** Times in milliseconds since the epoch. */
  readonly start: number;
  readonly saved: number;
  readonly state: SavedState;
  readonly blocks?: SavedBlocks;
  readonly module?: SavedModule;
}

/** Keeps waiting runs for other nodes. */
export interface RunKeeper {
  /**
   * Call before a run goes on that was waiting. Of several calls at once, all have the same answer.
   * @returns false when another node has the run now: it must do nothing any more
   */
  goesOn(run: string): boolean | Promise<boolean>;
}

/** A clock for a block that began earlier: its time limit counts from then. */
export function sinceBegin(clock: Clock, began: number): Clock {
  return {
    ...clock,
    now: () => clock.now(),
    sleep: (milliseconds, signal) => clock.sleep(Math.max(0, began + milliseconds - clock.now()), signal),
  };
}
