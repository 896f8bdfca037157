/** Limits of one run. Exceeding any of them, except the rate, ends the run with a `LimitError`. */
export interface ScriptLimits {
  /** Milliseconds of CPU in total. */
  readonly cpuMs: number;
  /** Milliseconds of CPU between two waits. */
  readonly activationMs: number;
  /** Milliseconds from start to end, including waits; undefined: unlimited. */
  readonly wallMs: number | undefined;
  /** Megabytes of heap and buffers; at least 8. V8 reacts late: up to three times as much may be used for a moment. */
  readonly memoryMb: number;
  /** Commands in total. */
  readonly commands: number;
  /**
   * Commands answered per second, after a burst of as many; further answers are delayed. 4096 characters count as one.
   */
  readonly commandsPerSecond: number;
  /** Commands in progress at once. */
  readonly pendingCommands: number;
  /** Pending `sleep` commands at once. */
  readonly timers: number;
  readonly logLines: number;
  readonly logBytes: number;
  /** Characters of JSON in one message: arguments, an answer, an event, the result. */
  readonly messageBytes: number;
}

export type LimitName = keyof ScriptLimits;

export const DEFAULT_LIMITS: ScriptLimits = {
  cpuMs: 10_000,
  activationMs: 500,
  wallMs: undefined,
  memoryMb: 32,
  commands: 100_000,
  commandsPerSecond: 250,
  pendingCommands: 64,
  timers: 32,
  logLines: 1000,
  logBytes: 262_144,
  messageBytes: 262_144,
};

/** The limits in authors' terms; quoted names are those of settings. */
const WORDS: Readonly<Record<LimitName, string>> = {
  cpuMs: '"cpu" of N ms',
  activationMs: '"activation" of N ms between two waits',
  memoryMb: '"memory" of N MB',
  wallMs: '"wall" of N ms',
  pendingCommands: '"pending" of N functions at once',
  logLines: '"log" of N lines',
  logBytes: 'of N octets in the log',
  timers: 'of N functions sleep at once',
  commands: 'of N functions in all',
  commandsPerSecond: 'of N functions in a second',
  messageBytes: 'of N characters of JSON in arguments, an answer or the result',
};

/** `"activation" of 500 ms between two waits`. */
export function limitText(limit: LimitName, allowed: number): string {
  return WORDS[limit].replace('N', String(allowed));
}

/** What a run used so far. */
export interface ScriptUsage {
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Number of turns. */
  readonly activations: number;
  readonly commands: number;
  readonly logLines: number;
  readonly logBytes: number;
  /** Heap and buffers at the last measurement, in bytes. */
  readonly memoryBytes: number;
}
