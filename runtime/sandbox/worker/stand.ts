import type { InspectorWire } from './inspector-wire.ts';

/** What the stand is called in the inspector protocol. */
export const STAND_URL = 'ringmaster:stand';
/**
 * The thread stands in the second line. A step or a pause that was to stop the author's code next stops in the first one, a
 * step that is to lead there from here in the third.
 */
export const STAND = '(() => { 0;\ndebugger;\n})';
const STANDING_LINE = 1;
const LEAVING_LINE = 2;

/** What an event of the inspector protocol may be made of. */
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
 * Keeps a thread in the isolate between two turns of the script. When a thread leaves an isolate, V8 forgets the steps over an
 * `await` and the pauses that are still to come, and numbers breakpoints from 1 again, so that it takes one for another
 * (v8::Locker, Debug::ThreadInit). So with a debugger it does not leave: it stands in a pause of our own, in which it deals
 * with the debugger's requests as in any other, and of which the debugger is not told.
 */
export class Stand {
  readonly #wire: InspectorWire;
  readonly #enter: () => Promise<unknown>;
  /** Called each time the thread begins to stand, or has not stood. */
  readonly #onSettled: () => void;
  #scriptId: string | undefined;
  /** Stands are numbered from 1: how many were asked for, are to end at once, have begun, and are known to be over. */
  #asked = 0;
  #released = 0;
  #begun = 0;
  #over = 0;
  #standing = false;
  /** The script has to stop where it goes on. */
  #owesPause = false;
  #ended = false;

  /** @param enter runs `STAND` in the isolate, after what was asked of it before; rejects when the isolate is gone */
  constructor(wire: InspectorWire, enter: () => Promise<unknown>, onSettled: () => void) {
    this.#wire = wire;
    this.#enter = enter;
    this.#onSettled = onSettled;
  }

  /** The thread stands when it has done what was asked of it before. */
  begin(): void {
    if (this.#ended) return;
    this.#asked++;
    void this.#enter()
      // The isolate is gone, and with it the thread.
      .catch(() => undefined)
      .then(() => this.#left());
  }

  /** Lets the thread do what the function asks of it, and stand again then. */
  turn<T>(ask: () => T): T {
    const before = this.#asked;
    const asked = ask();
    this.begin();
    this.#release(before);
    return asked;
  }

  /** The thread leaves the isolate from now on when it has nothing to do. */
  end(): void {
    this.#ended = true;
    this.#owesPause = false;
    this.#release(this.#asked);
  }

  /** The debugger wants the script to stop as soon as it does anything, or no more. */
  owePause(owed: boolean): void {
    this.#owesPause = owed;
  }

  /** @returns whether the event is of the stand, and not for the debugger */
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
    // That it is over may be heard later than that the next one has begun.
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
