/** Runs programs through a nursery. */
import process from 'node:process';
import type { Birth, Nursery } from './nursery.ts';
import type { Order } from './nursery-messages.ts';

/** Environment passed to programs: paths of programs, libraries and data, and the language. */
const ENVIRONMENT = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'ESPEAK_DATA_PATH'];

/** A program whose input and output are the line (sh(1)); `$0` is the program. */
const ON_LINE = 'exec "$0" "$@" <&3 >&3 3>&-';

/** A shell script whose file descriptor 3 is the line to its requester; its arguments are `$0` and so on. */
export function shellOrder(script: string, args: readonly string[], more: ProgramInput['env'] = {}): Order {
  const env = Object.fromEntries(ENVIRONMENT.flatMap((name) => [[name, process.env[name]] as const]).filter(isSet));
  return { program: '/bin/sh', args: ['-c', `read -r go; ${script}`, ...args], env: { ...env, ...more }, group: true };
}

function isSet(entry: readonly [string, string | undefined]): entry is readonly [string, string] {
  return entry[1] !== undefined;
}

export interface ProgramInput {
  readonly program: string;
  readonly args: readonly string[];
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input: string;
  /** Largest output in octets; a program that exceeds it is killed. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Runs a program with an input and returns its output. Undefined when it is not installed, fails, or is killed. */
export type RunProgram = (work: ProgramInput, signal: AbortSignal) => Promise<Uint8Array | undefined>;

/** Runs programs by way of a nursery. */
export function programRunner(nursery: Nursery): RunProgram {
  return async (work, signal) => {
    if (signal.aborted) return undefined;
    const { program, args, env, input, maxBytes, timeoutMs } = work;
    const output = Promise.withResolvers<Uint8Array | undefined>();
    const pieces: Buffer[] = [];
    let size = 0;
    let ended: boolean | undefined;
    let drained = false;
    /** The end of the program and the end of its output, which arrive separately. */
    const over = (): void => {
      if (ended === false) output.resolve(undefined);
      else if (ended === true && drained) output.resolve(Buffer.concat(pieces));
    };
    const birth: Birth = {
      started: (_pid, line) => {
        line.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size > maxBytes) kill();
          else pieces.push(piece);
        });
        // It may end without reading all input; its exit status decides.
        line.on('error', () => undefined);
        line.on('close', () => {
          drained = true;
          over();
        });
        line.end(input);
      },
      words: () => undefined,
      gone: (_reason, ok) => {
        ended = ok && size <= maxBytes;
        over();
      },
      orphaned: () => stop(),
    };
    const stop = (): void => {
      kill();
      output.resolve(undefined);
    };
    const kill = nursery.start(shellOrder(ON_LINE, [program, ...args], env), birth);
    const late = setTimeout(stop, timeoutMs);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await output.promise;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', stop);
    }
  };
}
