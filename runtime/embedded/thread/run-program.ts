/** Programs that a server has run on this machine. */

/** A program to run on this machine, its input and its limits. */
export interface ProgramInput {
  readonly program: string;
  readonly args: readonly string[];
  readonly input: string;
  /** The program is ended when it writes more bytes. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Runs a program. Resolves with its output, or with undefined when it is not installed, fails or is ended early. */
export type RunProgram = (work: ProgramInput, signal: AbortSignal) => Promise<Uint8Array | undefined>;
