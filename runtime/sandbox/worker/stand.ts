/** Holds a thread in an isolate for a debugger. */
import type { InspectorWire } from './inspector-wire.ts';

/** URL of the stand in the inspector protocol. */
export const STAND_URL = 'ringmaster:stand';
/**
 * The thread stands in the second line. A pending step or pause of the author's code stops in the first line; a step
 * out of the stand stops in the third.
 */
export const STAND = '(() => { 0;\ndebugger;\n})';
const STANDING_LINE = 1;
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
 * an `await` and pending pauses, and numbers breakpoints from 1 again, which confuses them (v8::Locker,
 * Debug::ThreadInit). With a debugger the thread therefore stays: it stands in a pause of our own, which handles the
 * debugger's requests like any other pause and is hidden from the debugger.
 */
export class Stand {
  readonly #wire: InspectorWire;
  readonly #enter: () => Promise<unknown>;
  /** Called whenever the thread begins to stand, or failed to. */
  readonly #onSettled: () => void;
  #scriptId: string | undefined;
  /** Stands are numbered from 1: requested, to end immediately, begun, and known to be over. */
  #asked = 0;
  #released = 0;
  #begun = 0;
  #over = 0;
  #standing = false;
  /** True: the script has to pause when it continues. */
  #owesPause = false;
  #ended = false;

  /** @param enter runs `STAND` in the isolate, after its earlier tasks; rejects when the isolate was disposed */
  constructor(wire: InspectorWire, enter: () => Promise<unknown>, onSettled: () => void) {
    this.#wire = wire;
    this.#enter = enter;
    this.#onSettled = onSettled;
  }

  /** Lets the thread stand after its earlier tasks. */
  begin(): void {
    if (this.#ended) return;
    this.#asked++;
    void this.#enter()
      // The isolate was disposed, and its thread with it.
      .catch(() => undefined)
      .then(() => this.#left());
  }

  /** Lets the thread do the function's work, then stand again. */
  turn<T>(ask: () => T): T {
    const before = this.#asked;
    const asked = ask();
    this.begin();
    this.#release(before);
    return asked;
  }

  /** From now on the idle thread leaves the isolate. */
  end(): void {
    this.#ended = true;
    this.#owesPause = false;
    this.#release(this.#asked);
  }

  /** Sets whether the script has to pause at its next statement. */
  owePause(owed: boolean): void {
    this.#owesPause = owed;
  }

  /** @returns true for an event of the stand, hidden from the debugger */
  hears({ method, params }: InspectorEvent): boolean {
    switch (method) {
      case 'Debugger.scriptParsed':
        if (params?.url !== STAND_URL) return false;
        this.#scriptId = params.scriptId;
        return true;
      case 'Debugger.paused':
        return this.#paused(params?.callFrames?.[0]?.location);
      case 'Debugger.resumed': {
        const wasStanding = this.#standing;
        this.#standing = false;
        return wasStanding;
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
    this.#standing = true;
    // Its end may be reported after the begin of the next one.
    const number = Math.max(this.#begun, this.#over) + (at.lineNumber === LEAVING_LINE ? 0 : 1);
    if (at.lineNumber === STANDING_LINE) this.#begun = number;
    else this.#owesPause = true;
    if (number <= this.#released) this.#goOn();
    else this.#onSettled();
    return true;
  }

  #release(last: number): void {
    this.#released = last;
    if (this.#standing) this.#goOn();
  }

  #goOn(): void {
    this.#wire.request(this.#owesPause ? 'Debugger.stepInto' : 'Debugger.resume');
  }

  #left(): void {
    this.#over++;
    if (this.#over === this.#asked) this.#standing = false;
    this.#onSettled();
  }
}
