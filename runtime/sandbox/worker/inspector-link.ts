/** Connects debuggers to isolates. */
import { createHash } from 'node:crypto';
import type ivm from 'isolated-vm';
import { type InspectorRequest, InspectorWire, parseRequest } from './inspector-wire.ts';
import type { Program } from './source.ts';
import { type InspectorEvent, ThreadHold } from './thread-hold.ts';

/** Files that debuggers skip: our own code in the isolate. */
const OWN_CODE = '^node:internal/ringmaster/';
/** Requests permitted only while the author's program is paused, not during a hold. */
const MOVES = /^Debugger\.(?:resume|step(?:Into|Out|Over)|continueToLocation|restartFrame)$/;
/** JSON-RPC's code for server errors, with V8's message. */
const NOT_PAUSED = { code: -32_000, message: 'Can only perform operation while paused.' };

/** Connects a debugger to an isolate. The program waits for `Runtime.runIfWaitingForDebugger`. */
export class InspectorLink {
  readonly ready: Promise<void>;
  readonly #wire: InspectorWire;
  readonly #hold: ThreadHold;
  readonly #send: (message: string) => void;
  readonly #go: () => void;
  readonly #program: Program;
  /** True once the debugger can pause the script: the thread is then held between turns. */
  #enabled = false;
  /** Requests waiting until the thread is held; undefined: requests need not wait. */
  #queued: string[] | undefined;
  /** V8's number of the script's context. */
  #context: number | undefined;
  /** True while the program is paused and the debugger knows it. */
  #paused = false;
  #turns = 0;
  #closed = false;
  #closing: Promise<void> | undefined;

  /**
   * @param program the file shown to the debugger
   * @param hold runs `HOLD_SCRIPT` in the isolate's thread, after its earlier tasks
   * @param send sends a message to the debugger
   */
  constructor(isolate: ivm.Isolate, program: Program, hold: () => Promise<unknown>, send: (message: string) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#go = resolve;
    this.#send = send;
    this.#program = program;
    this.#wire = new InspectorWire(isolate, {
      event: (message) => this.#hear(message),
      answer: (_, message) => send(message),
    });
    this.#hold = new ThreadHold(this.#wire, hold, () => this.#deliver());
  }

  /** Handles a message of the debugger; invalid ones are dropped. */
  dispatch(message: string): void {
    if (this.#queued) this.#queued.push(message);
    else this.#request(message);
  }

  /** Lets the script run: `work` gives the isolate its tasks. */
  turn<T>(ask: () => Promise<T>): Promise<T> {
    if (!this.#enabled || this.#closed) return ask();
    this.#turns++;
    return this.#hold.turn(ask).finally(() => this.#turns--);
  }

  /** The debugger disconnected: the program continues and never pauses. */
  detach(): void {
    if (this.#closed) return;
    this.#queued = undefined;
    this.#enabled = false;
    this.#wire.request('Debugger.setSkipAllPauses', { skip: true });
    this.#wire.request('Debugger.resume');
    this.#hold.end();
    this.#go();
  }

  /** The run has ended. Once this resolves, the isolate may be disposed. See `InspectorWire.close`. */
  close(): Promise<void> {
    this.#closed = true;
    this.#queued = undefined;
    this.#go();
    this.#hold.end();
    this.#closing ??= this.#wire.close();
    return this.#closing;
  }

  #hear(message: string): void {
    const event = JSON.parse(message) as InspectorEvent;
    if (this.#hold.hears(event)) return;
    if (event.method === 'Runtime.executionContextCreated') this.#noteContext(event);
    else if (event.method === 'Debugger.paused') this.#paused = true;
    else if (event.method === 'Debugger.resumed') this.#paused = false;
    this.#send(asWritten(event, this.#program) ?? message);
  }

  #request(message: string): void {
    const request = parseRequest(message);
    if (!request || this.#closed) return;
    const { id, method } = request;
    if (MOVES.test(method) && !this.#paused) {
      this.#send(JSON.stringify({ id, error: NOT_PAUSED }));
      return;
    }
    this.#note(request);
    this.#wire.send(id, withOwnCode(request) ?? this.#withContext(request) ?? message);
    if (method === 'Debugger.enable') this.#enable();
    if (method === 'Runtime.runIfWaitingForDebugger') this.#go();
  }

  /** Besides the script's context there is the isolate's empty one. */
  #noteContext({ params: { context } = {} }: InspectorEvent): void {
    if (context?.name !== 'default') this.#context = context?.id;
  }

  /** Evaluations without a context, e.g. in a debugger's console, use the script's. */
  #withContext({ id, method, params }: InspectorRequest): string | undefined {
    const asked = (params ?? {}) as { readonly contextId?: unknown; readonly uniqueContextId?: unknown };
    const isPlaced = asked.contextId !== undefined || asked.uniqueContextId !== undefined;
    if (method !== 'Runtime.evaluate' || isPlaced || this.#context === undefined) return undefined;
    return JSON.stringify({ id, method, params: { ...asked, contextId: this.#context } });
  }

  #note({ method }: InspectorRequest): void {
    if (method === 'Debugger.pause') this.#hold.owePause(true);
    else if (MOVES.test(method)) this.#hold.owePause(false);
  }

  #enable(): void {
    if (this.#enabled) return;
    this.#enabled = true;
    this.#wire.request('Debugger.setBlackboxPatterns', { patterns: [OWN_CODE] });
    // The next request may be a breakpoint; a thread that leaves the isolate would number it 1 again.
    if (this.#turns === 0) this.#queued = [];
    this.#hold.begin();
  }

  #deliver(): void {
    const queued = this.#queued ?? [];
    this.#queued = undefined;
    for (const message of queued) this.dispatch(message);
  }
}

/**
 * Replaces the script's hash by that of the author's text: without types, a module differs from its file, and VS Code
 * would compare the hashes and show another file. A `sourceURL` prevents the comparison, but then each breakpoint is
 * set twice, and a logpoint prints twice.
 */
function asWritten({ method, params }: InspectorEvent, program: Program): string | undefined {
  if (method !== 'Debugger.scriptParsed' || program.kind !== 'module') return undefined;
  const written = [program, ...(program.modules ?? [])].find(({ file }) => file === params?.url);
  if (written?.format !== 'ts') return undefined;
  const hash = createHash('sha256').update(written.source).digest('hex');
  return JSON.stringify({ method, params: { ...params, hash } });
}

/** Patterns of the debugger, with ours added. */
function withOwnCode({ id, method, params }: InspectorRequest): string | undefined {
  if (method !== 'Debugger.setBlackboxPatterns') return undefined;
  const { patterns, ...more } = (params ?? {}) as { readonly patterns?: unknown };
  if (!Array.isArray(patterns)) return undefined;
  return JSON.stringify({ id, method, params: { ...more, patterns: [OWN_CODE, ...(patterns as unknown[])] } });
}
