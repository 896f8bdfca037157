/** An isolate for one program. */
import { readFileSync } from 'node:fs';
import ivm from 'isolated-vm';
import { type Activate, Door, type StartProgram } from './door.ts';
import { type Prepared, type Program, SourceError, prepareSource, sourceError } from './source.ts';
import { linkModules } from './link.ts';
import { LogBuffer } from './log-buffer.ts';
import { HOLD_SCRIPT, HOLD_URL } from './thread-hold.ts';

/** A script, compiled once per isolate. */
const INSIDE = `${expressionIn('inside.js')}(${expressionIn('tame.js')})`;
/** URL prefix of our own code inside, like Node.js's internal code, because debuggers skip that. */
const INSIDE_URL = 'node:internal/ringmaster/inside';

/** Milliseconds for passing the author's function. */
const HAND_OVER_MS = 10_000;

export interface IsolateSettings {
  readonly memoryMb: number;
  readonly inspector: boolean;
}

/** An isolate for one program, with the code shared by its contexts. */
export class Room {
  readonly isolate: ivm.Isolate;
  /** Called when V8 lost control over the isolate: it can be neither trusted nor ended. */
  onCatastrophe: (reason: string) => void = () => undefined;
  /** True when the last run was a block that ended in its first turn. */
  endsAtOnce = false;
  readonly #program: Program;
  readonly #prepared: Prepared;
  readonly #inspector: boolean;
  #inside: ivm.Script | undefined;
  #block: ivm.Script | undefined;
  #next: Promise<ivm.Context> | undefined;
  #logBuffer: LogBuffer;

  constructor(program: Program, prepared: Prepared, settings: IsolateSettings) {
    this.#program = program;
    this.#prepared = prepared;
    this.#logBuffer = logBufferOf(program);
    this.#inspector = settings.inspector;
    this.isolate = new ivm.Isolate({
      memoryLimit: settings.memoryMb,
      inspector: settings.inspector,
      onCatastrophicError: (reason) => this.onCatastrophe(reason),
    });
  }

  /** Creates the context for the next `open`, after the isolate's present work and in the same turn of its thread. */
  prepare(): void {
    this.#next ??= this.isolate.createContext({ inspector: this.#inspector });
    // A disposed isolate fails in `open`.
    this.#next.catch(() => undefined);
  }

  /**
   * A new context with its door and the program, which has not run yet.
   * @throws SourceError
   */
  async open(): Promise<Door> {
    this.#inside ??= await this.isolate.compileScript(INSIDE, { filename: INSIDE_URL });
    // In the isolate's own thread, although slower: this thread serves other runs meanwhile.
    this.prepare();
    const context = (await this.#next) as ivm.Context;
    this.#next = undefined;
    if (this.#logBuffer.hasGrown) this.#logBuffer = logBufferOf(this.#program);
    const [activate, start, hold] = await Promise.all([
      this.#inside.run(context, { reference: true }) as Promise<ivm.Reference<Activate>>,
      this.#compile(context),
      this.#inspector ? this.#compileHold(context) : undefined,
    ]);
    return new Door(this.isolate, context, { logBuffer: this.#logBuffer, activate, start, hold });
  }

  async #compileHold(context: ivm.Context): Promise<ivm.Reference<() => void>> {
    const script = await this.isolate.compileScript(HOLD_SCRIPT, { filename: HOLD_URL });
    return (await script.run(context, { reference: true })) as ivm.Reference<() => void>;
  }

  /** @throws SourceError */
  async compile(): Promise<void> {
    const { code, lineOffset, escapes } = this.#prepared;
    const origin = { filename: this.#program.file, lineOffset };
    try {
      if (this.#program.kind === 'module') await this.isolate.compileModule(code, origin);
      else await this.isolate.compileScript(code, origin);
    } catch (error) {
      throw sourceError(error);
    }
    if (escapes) throw escapesItsFunction();
  }

  async #compile(context: ivm.Context): Promise<StartProgram> {
    const { code, lineOffset, escapes } = this.#prepared;
    const { file } = this.#program;
    const origin = { filename: file, lineOffset };
    try {
      if (this.#program.kind === 'module')
        return await linkModules(this.isolate, context, { program: this.#program, code });
      const block = (this.#block ??= await this.isolate.compileScript(code, origin));
      // No author's code may run before the start.
      if (escapes) throw escapesItsFunction();
      // Passes the author's function without running it, ahead of the start.
      const handed = block.run(context, { timeout: HAND_OVER_MS });
      handed.catch(() => undefined);
      return () => handed;
    } catch (error) {
      throw sourceError(error);
    }
  }
}

function logBufferOf({ source, modules = [] }: Program): LogBuffer {
  return new LogBuffer([source, ...modules.map((each) => each.source)].join('\n'));
}

function escapesItsFunction(): SourceError {
  return new SourceError([{ line: 1, column: 1, message: 'the script ends its function by itself' }]);
}

/** The value of a file with a single expression. */
function expressionIn(file: string): string {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return `(${text.trimEnd().replace(/;$/, '')})`;
}

/**
 * Compiles a program without running it. Imports are not linked.
 * @throws SourceError, CompilerExhaustedError
 */
export async function compileAlone(program: Program, memoryMb: number): Promise<void> {
  const prepared = prepareSource(program);
  const room = new Room(program, prepared, { memoryMb, inspector: false });
  try {
    await room.compile();
  } finally {
    if (!room.isolate.isDisposed) room.isolate.dispose();
  }
}
