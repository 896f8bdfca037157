import { createHash } from 'node:crypto';
import type ivm from 'isolated-vm';
import { type InspectorRequest, InspectorWire, parseRequest } from './inspector-wire.ts';
import type { Program } from './source.ts';
import { type InspectorEvent, Stand } from './stand.ts';

/** What debuggers step over and do not stop in: our own code inside the isolate. */
const OWN_CODE = '^node:internal/ringmaster/';
/** What a debugger may only ask of a program that stands still, and not where we have it stand. */
const MOVES = /^Debugger\.(?:resume|step(?:Into|Out|Over)|continueToLocation|restartFrame)$/;
/** JSON-RPC's code for errors of the server, and V8's words. */
const NOT_PAUSED = { code: -32_000, message: 'Can only perform operation while paused.' };

/** Connects a debugger to an isolate. The program waits until it has sent `Runtime.runIfWaitingForDebugger`. */
export class InspectorLink {
  readonly ready: Promise<void>;
  readonly #wire: InspectorWire;
  readonly #stand: Stand;
  readonly #send: (message: string) => void;
  readonly #go: () => void;
  readonly #program: Program;
  /** The debugger wants to stop somewhere: the thread stands between turns. */
  #enabled = false;
  /** Requests that wait until the thread stands; undefined: they need not. */
  #held: string[] | undefined;
  /** Where the script is, in V8's numbers. */
  #context: number | undefined;
  /** The program stands still, and the debugger knows it. */
  #paused = false;
  #turns = 0;
  #closed = false;
  #closing: Promise<void> | undefined;

  /**
   * @param program whose file the debugger is shown
   * @param stand lets the isolate's thread run into `STAND`, after what was asked of it before
   * @param send passes a message on to the debugger
   */
  constructor(isolate: ivm.Isolate, program: Program, stand: () => Promise<unknown>, send: (message: string) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#go = resolve;
    this.#send = send;
    this.#program = program;
    this.#wire = new InspectorWire(isolate, {
      event: (message) => this.#hear(message),
      answer: (_, message) => send(message),
    });
    this.#stand = new Stand(this.#wire, stand, () => this.#deliver());
  }

  /** A message of the debugger; what is no request of the inspector protocol is dropped. */
  dispatch(message: string): void {
    if (this.#held) this.#held.push(message);
    else this.#request(message);
  }

  /** Lets the script work: the function asks the isolate for what is to be done. */
  turn<T>(ask: () => Promise<T>): Promise<T> {
    if (!this.#enabled || this.#closed) return ask();
    this.#turns++;
    return this.#stand.turn(ask).finally(() => this.#turns--);
  }

  /** The debugger went away: the program goes on and stops nowhere. */
  detach(): void {
    if (this.#closed) return;
    this.#held = undefined;
    this.#enabled = false;
    this.#wire.request('Debugger.setSkipAllPauses', { skip: true });
    this.#wire.request('Debugger.resume');
    this.#stand.end();
    this.#go();
  }

  /** The run is over: whatever the program still does, the isolate may be disposed then. See `InspectorWire.close`. */
  close(): Promise<void> {
    this.#closed = true;
    this.#held = undefined;
    this.#go();
    this.#stand.end();
    this.#closing ??= this.#wire.close();
    return this.#closing;
  }

  #hear(message: string): void {
    const event = JSON.parse(message) as InspectorEvent;
    if (this.#stand.hears(event)) return;
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

  /** Beside the script's context there is an empty one, that of the isolate. */
  #noteContext({ params: { context } = {} }: InspectorEvent): void {
    if (context?.name !== 'default') this.#context = context?.id;
  }

  /** What is evaluated nowhere in particular, as in a debugger's console, is evaluated where the script is. */
  #withContext({ id, method, params }: InspectorRequest): string | undefined {
    const asked = (params ?? {}) as { readonly contextId?: unknown; readonly uniqueContextId?: unknown };
    const isPlaced = asked.contextId !== undefined || asked.uniqueContextId !== undefined;
    if (method !== 'Runtime.evaluate' || isPlaced || this.#context === undefined) return undefined;
    return JSON.stringify({ id, method, params: { ...asked, contextId: this.#context } });
  }

  #note({ method }: InspectorRequest): void {
    if (method === 'Debugger.pause') this.#stand.owePause(true);
    else if (MOVES.test(method)) this.#stand.owePause(false);
  }

  #enable(): void {
    if (this.#enabled) return;
    this.#enabled = true;
    this.#wire.request('Debugger.setBlackboxPatterns', { patterns: [OWN_CODE] });
    // What comes next may be a breakpoint, which a thread that does not stay would number as the first.
    if (this.#turns === 0) this.#held = [];
    this.#stand.begin();
  }

  #deliver(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.dispatch(message);
  }
}

/**
 * A module without its types is another text than its file: VS Code compares the hashes, would believe that it is another file,
 * and show that. So it gets the hash of what the author wrote. A `sourceURL` keeps it from comparing, but then it sets
 * each breakpoint twice, and a logpoint prints twice.
 */
function asWritten({ method, params }: InspectorEvent, { kind, format, file, source }: Program): string | undefined {
  if (method !== 'Debugger.scriptParsed' || params?.url !== file || kind !== 'module' || format !== 'ts')
    return undefined;
  const hash = createHash('sha256').update(source).digest('hex');
  return JSON.stringify({ method, params: { ...params, hash } });
}

/** The patterns of the debugger, and ours. */
function withOwnCode({ id, method, params }: InspectorRequest): string | undefined {
  if (method !== 'Debugger.setBlackboxPatterns') return undefined;
  const { patterns, ...more } = (params ?? {}) as { readonly patterns?: unknown };
  if (!Array.isArray(patterns)) return undefined;
  return JSON.stringify({ id, method, params: { ...more, patterns: [OWN_CODE, ...(patterns as unknown[])] } });
}
