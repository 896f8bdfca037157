/** A program of this machine, what it reads and how long it may take. */
export interface ProgramInput {
  readonly program: string;
  readonly args: readonly string[];
  readonly input: string;
  /** A program that writes more bytes is ended. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Runs a program and resolves with its output; with undefined when it is not installed, fails, or is ended early. */
export type RunProgram = (work: ProgramInput, signal: AbortSignal) => Promise<Uint8Array | undefined>;
