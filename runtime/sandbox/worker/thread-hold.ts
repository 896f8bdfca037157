/** Keeps a thread in an isolate between turns, for a debugger. */
import type { InspectorWire } from './inspector-wire.ts';

/** URL of the script below in the inspector protocol. */
export const HOLD_URL = 'ringmaster:hold';
/**
 * A function that holds the thread: it pauses in the second line. A pending step or pause of the author's code stops in
 * the first line; a step out of the hold stops in the third.
 */
export const HOLD_SCRIPT = '(() => { 0;\ndebugger;\n})';
const HELD_LINE = 1;
const LEAVING_LINE = 2;

/** Parts of inspector protocol events. */
export interface InspectorEvent {
  readonly method: string;
  readonly params?: {
    readonly url?: string;
    readonly scriptId?: string;
    readonly context?: { readonly id: number; readonly name: string };
    readonly callFrames?: readonly {
      readonly location: { readonly scriptId: string; readonly lineNumber: number };
    }[];
  };
}

/**
 * Keeps a thread in the isolate between two turns of the script. When a thread leaves an isolate, V8 forgets steps over
 * an `await` and pending pauses, and numbers breakpoints from 1 again, so that it confuses them (v8::Locker,
 * Debug::ThreadInit). With a debugger the thread therefore stays in a pause of our own. This pause handles the
 * debugger's requests like any other, and is hidden from the debugger.
 */
export class ThreadHold {
  readonly #wire: InspectorWire;
  readonly #enter: () => Promise<unknown>;
  /** Called whenever a hold begins, or cannot begin. */
  readonly #onSettled: () => void;
  #scriptId: string | undefined;
  /** Holds are numbered from 1. The last number requested, released, begun, and reported as ended. */
  #asked = 0;
  #released = 0;
  #begun = 0;
  #over = 0;
  #isHeld = false;
  /** True: the script has to pause when it continues. */
  #owesPause = false;
  #ended = false;

  /** @param enter runs `HOLD_SCRIPT` in the isolate, after its earlier tasks; rejects when the isolate was disposed */
  constructor(wire: InspectorWire, enter: () => Promise<unknown>, onSettled: () => void) {
    this.#wire = wire;
    this.#enter = enter;
    this.#onSettled = onSettled;
  }

  /** Holds the thread after its earlier tasks. */
  begin(): void {
    if (this.#ended) return;
    this.#asked++;
    void this.#enter()
      // The isolate was disposed, and its thread with it.
      .catch(() => undefined)
      .then(() => this.#left());
  }

  /** Releases the thread for the function's work, then holds it again. */
  turn<T>(ask: () => T): T {
    const before = this.#asked;
    const asked = ask();
    this.begin();
    this.#release(before);
    return asked;
  }

  /** Ends all holds: the idle thread leaves the isolate from now on. */
  end(): void {
    this.#ended = true;
    this.#owesPause = false;
    this.#release(this.#asked);
  }

  /** Sets whether the script has to pause at its next statement. */
  owePause(owed: boolean): void {
    this.#owesPause = owed;
  }

  /** @returns true for an event of a hold, which is hidden from the debugger */
  hears({ method, params }: InspectorEvent): boolean {
    switch (method) {
      case 'Debugger.scriptParsed':
        if (params?.url !== HOLD_URL) return false;
        this.#scriptId = params.scriptId;
        return true;
      case 'Debugger.paused':
        return this.#paused(params?.callFrames?.[0]?.location);
      case 'Debugger.resumed': {
        const wasHeld = this.#isHeld;
        this.#isHeld = false;
        return wasHeld;
      }
      default:
        return false;
    }
  }

  #paused(at: { readonly scriptId: string; readonly lineNumber: number } | undefined): boolean {
    if (at === undefined || at.scriptId !== this.#scriptId) {
      this.#owesPause = false;
      return false;
    }
    this.#isHeld = true;
    // Its end may be reported after the begin of the next one.
    const number = Math.max(this.#begun, this.#over) + (at.lineNumber === LEAVING_LINE ? 0 : 1);
    if (at.lineNumber === HELD_LINE) this.#begun = number;
    else this.#owesPause = true;
    if (number <= this.#released) this.#goOn();
    else this.#onSettled();
    return true;
  }

  #release(last: number): void {
    this.#released = last;
    if (this.#isHeld) this.#goOn();
  }

  #goOn(): void {
    this.#wire.request(this.#owesPause ? 'Debugger.stepInto' : 'Debugger.resume');
  }

  #left(): void {
    this.#over++;
    if (this.#over === this.#asked) this.#isHeld = false;
    this.#onSettled();
  }
}
