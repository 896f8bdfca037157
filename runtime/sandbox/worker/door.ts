import { readFileSync } from 'node:fs';
import ivm from 'isolated-vm';
import { type Prepared, type Program, SourceError, syntaxProblem } from './source.ts';

/**
 * The one door between host and isolate. An activation goes in as JSON text, what the script said comes out as JSON
 * text; the only things of ours inside are the frozen functions of inside.js, and the only thing of the isolate's
 * outside is a handle to one function of that file. Nothing is passed by reference, and no function of the host can be
 * called from inside.
 */

const INSIDE = readFileSync(new URL('inside.js', import.meta.url), 'utf8');

/** Milliseconds for taking out what was said: our own code, on data of limited size. Long, for a machine may be busy. */
const DRAIN_MS = 10_000;

/** Milliseconds for handing over the author's function. */
const HAND_OVER_MS = 10_000;

/** How isolated-vm and inside.js say it. */
const TIMED_OUT = 'Script execution timed out.';
const UNSTARTED = '["unstarted"]';
const LIMIT = ' [["limit",';
const ENDED = '.';

/** What became of an activation. */
export type Said =
  /** @property ended the script came to its end, and nothing of it is left to be done */
  | { readonly kind: 'said'; readonly text: string; readonly ended: boolean; readonly unhandled?: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'threw'; readonly message: string; readonly stack: string }
  /** The isolate is gone, as after too much memory. */
  | { readonly kind: 'disposed' };

export interface IsolateSettings {
  readonly memoryMb: number;
  readonly inspector: boolean;
}

/** An isolate for one program, and the code in it that every context shares. */
export class Room {
  readonly isolate: ivm.Isolate;
  /** Called when V8 lost control over the isolate: nothing in it can be relied on, nor ended. */
  onCatastrophe: (reason: string) => void = () => undefined;
  readonly #program: Program;
  readonly #prepared: Prepared;
  readonly #inspector: boolean;
  #inside: ivm.Script | undefined;
  #block: ivm.Script | undefined;

  constructor(program: Program, prepared: Prepared, settings: IsolateSettings) {
    this.#program = program;
    this.#prepared = prepared;
    this.#inspector = settings.inspector;
    this.isolate = new ivm.Isolate({
      memoryLimit: settings.memoryMb,
      inspector: settings.inspector,
      onCatastrophicError: (reason) => this.onCatastrophe(reason),
    });
  }

  /**
   * A fresh context with its door, and the program in it, none of which has run yet.
   * @throws SourceError
   */
  async open(): Promise<Door> {
    this.#inside ??= await this.isolate.compileScript(INSIDE, { filename: 'ringmaster:inside' });
    // In the isolate's own thread, although that takes longer: meanwhile this one serves other runs.
    const context = await this.isolate.createContext({ inspector: this.#inspector });
    const [activate, start] = await Promise.all([
      this.#inside.run(context, { reference: true }) as Promise<ivm.Reference<Activate>>,
      this.#compile(context),
    ]);
    return new Door(this.isolate, context, activate, start);
  }

  async #compile(context: ivm.Context): Promise<StartProgram> {
    const { lineOffset, escapes, stripped } = this.#prepared;
    const { file } = this.#program;
    const origin = { filename: file, lineOffset };
    // Else VS Code finds that the file holds another text, and shows this one instead of the author's. With it, V8's
    // breakpoints know no line offset; where there is one, nothing is compared.
    const named = this.#inspector && stripped ? `\n//# sourceURL=${file}` : '';
    const code = `${this.#prepared.code}${named}`;
    try {
      if (this.#program.kind === 'module') return await linkModule(this.isolate, context, code, origin);
      const block = (this.#block ??= await this.isolate.compileScript(code, origin));
      // Nothing of the author's may run before the start.
      if (escapes) throw new SourceError([{ line: 1, column: 1, message: 'the script ends its function by itself' }]);
      // Hands the author's function over and runs none of it: done before somebody waits for it.
      const handed = block.run(context, { timeout: HAND_OVER_MS });
      handed.catch(() => undefined);
      return () => handed;
    } catch (error) {
      if (error instanceof SourceError || !(error instanceof SyntaxError || error instanceof RangeError)) throw error;
      throw new SourceError([syntaxProblem(error)]);
    }
  }
}

type Activate = (activation?: string) => string | undefined;
type StartProgram = (options: ivm.RunOptions) => Promise<unknown>;

async function linkModule(
  isolate: ivm.Isolate,
  context: ivm.Context,
  code: string,
  origin: ivm.ScriptOrigin,
): Promise<StartProgram> {
  const scenario = await isolate.compileModule(code, origin);
  const [specifier] = scenario.dependencySpecifiers;
  if (specifier !== undefined) {
    throw new SourceError([
      { line: 1, column: 1, message: `a script imports nothing, but this one imports "${specifier}"` },
    ]);
  }
  const entry = await isolate.compileModule('import author from "scenario"; __scenario__(author);');
  await entry.instantiate(context, () => scenario);
  return (options) => entry.evaluate(options);
}

/** A context with a program in it. */
export class Door {
  readonly #isolate: ivm.Isolate;
  readonly #context: ivm.Context;
  readonly #activate: ivm.Reference<Activate>;
  readonly #start: StartProgram;

  constructor(isolate: ivm.Isolate, context: ivm.Context, activate: ivm.Reference<Activate>, start: StartProgram) {
    this.#isolate = isolate;
    this.#context = context;
    this.#activate = activate;
    this.#start = start;
  }

  /**
   * Starts the program; never rejects.
   * @param now the script's clock, milliseconds since the epoch
   * @param jobs JSON texts
   * @param timeout milliseconds; undefined: none
   */
  async start(now: number, jobs: readonly string[], timeout: number | undefined): Promise<Said> {
    const options = timeout === undefined ? {} : { timeout };
    // The isolate takes its tasks in order, all in one turn of its thread.
    const [announced, started, drained] = await Promise.allSettled([
      this.#activate.apply(undefined, [activation(now, jobs)], options),
      this.#start(options),
      this.#drain(),
    ]);
    return (
      exceeded(drained) ?? this.#failure(announced) ?? this.#failure(started) ?? this.#said(drained, started, announced)
    );
  }

  /** Continues the program: the same. */
  async activate(now: number, jobs: readonly string[], timeout: number | undefined): Promise<Said> {
    const [activated, drained] = await Promise.allSettled([
      this.#activate.apply(undefined, [activation(now, jobs)], timeout === undefined ? {} : { timeout }),
      this.#drain(),
    ]);
    return exceeded(drained) ?? this.#failure(activated) ?? this.#said(drained, activated, activated);
  }

  /** Frees the context; the isolate stays. */
  close(): void {
    this.#activate.release();
    this.#context.release();
  }

  async #drain(): Promise<string> {
    return (await this.#activate.apply(undefined, [], { timeout: DRAIN_MS })) ?? '';
  }

  /** A script can make its own errors look like these; it then ends itself. */
  #failure(result: PromiseSettledResult<unknown>): Said | undefined {
    if (this.#isolate.isDisposed) return { kind: 'disposed' };
    return result.status === 'rejected' && messageOf(result.reason) === TIMED_OUT ? { kind: 'timeout' } : undefined;
  }

  /** A rejection without a failure: the source threw while it was loaded, or nobody handled a promise of the script. */
  #said(
    drained: PromiseSettledResult<string>,
    turn: PromiseSettledResult<unknown>,
    before: PromiseSettledResult<unknown>,
  ): Said {
    const failed = this.#failure(drained);
    if (failed) return failed;
    if (drained.status === 'rejected') return thrown(drained.reason);
    if (turn.status === 'rejected' && drained.value.includes(UNSTARTED)) return thrown(turn.reason);
    const [rejected] = [turn, before].filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    return {
      kind: 'said',
      text: drained.value.slice(1),
      ended: drained.value.startsWith(ENDED),
      ...(rejected === undefined ? {} : { unhandled: messageOf(rejected.reason) }),
    };
  }
}

function activation(now: number, jobs: readonly string[]): string {
  return `[${now},${jobs.join(',')}]`;
}

/** A script that went on after it exceeded a limit ends because of that limit, not because of the time it then took. */
function exceeded(drained: PromiseSettledResult<string>): Said | undefined {
  const isLimit = drained.status === 'fulfilled' && drained.value.startsWith(LIMIT);
  return isLimit ? { kind: 'said', text: drained.value.slice(1), ended: false } : undefined;
}

function thrown(reason: unknown): Said {
  return {
    kind: 'threw',
    message: messageOf(reason),
    stack: reason instanceof Error ? (reason.stack ?? '').slice(0, 4000) : '',
  };
}

function messageOf(reason: unknown): string {
  return (reason instanceof Error ? reason.message : String(reason)).slice(0, 2000);
}
