/** Decides who answered a call, and waits for the end of a machine's greeting: the parts put together, over samples. */
import { BeepDetector } from './beep.ts';
import { type Decision, GreetingAnalysis, type GreetingLimits } from './greeting.ts';

const FRAME = 160;
const FRAME_MS = 20;

export interface AnsweringLimits extends GreetingLimits {
  /** Present: waits for the end of a machine's greeting, at most so many milliseconds after the decision. */
  readonly endMs: number | undefined;
  /** Milliseconds of silence that end a greeting without a beep. */
  readonly endSilenceMs: number;
}

/** How a machine's greeting ended. */
export type GreetingEnd = 'beep' | 'silence' | 'timeout';

export interface Answering extends Decision {
  /** Present where the end was waited for. */
  readonly end: GreetingEnd | undefined;
  /** Milliseconds from the beginning to this result. */
  readonly milliseconds: number;
  /** Milliseconds of silence before the first word. */
  readonly silenceMs: number;
  /** Milliseconds of sound until the decision. */
  readonly greetingMs: number;
  /** Words until the decision. */
  readonly words: number;
}

/** Takes samples of 8 kHz until there is a result. */
export class AnsweringAnalysis {
  readonly #limits: AnsweringLimits;
  readonly #greeting: GreetingAnalysis;
  readonly #beep = new BeepDetector();
  #rest = new Int16Array(0);
  #heardMs = 0;
  #quietMs = 0;
  #decision: Decision | undefined;
  #decidedMs = 0;

  constructor(limits: AnsweringLimits) {
    this.#limits = limits;
    this.#greeting = new GreetingAnalysis(limits);
  }

  /** Milliseconds heard so far. */
  get heardMs(): number {
    return this.#heardMs;
  }

  hear(samples: Int16Array): Answering | undefined {
    const input = new Int16Array(this.#rest.length + samples.length);
    input.set(this.#rest);
    input.set(samples, this.#rest.length);
    let at = 0;
    let result: Answering | undefined;
    for (; result === undefined && at + FRAME <= input.length; at += FRAME)
      result = this.#frame(input.subarray(at, at + FRAME));
    this.#rest = input.slice(at);
    return result;
  }

  #frame(frame: Int16Array): Answering | undefined {
    this.#heardMs += FRAME_MS;
    const loud = levelOf(frame) > this.#limits.silenceThreshold;
    this.#quietMs = loud ? 0 : this.#quietMs + FRAME_MS;
    const beeped = this.#beep.frame(loud ? frame : SILENCE, FRAME_MS);
    if (this.#decision === undefined) this.#decide(loud);
    if (this.#decision === undefined) return undefined;
    const { endMs, endSilenceMs } = this.#limits;
    if (endMs === undefined || this.#decision.result !== 'machine') return this.#result(undefined);
    if (beeped) return this.#result('beep');
    if (this.#beep.sounding) return undefined;
    if (this.#quietMs >= endSilenceMs) return this.#result('silence');
    return this.#heardMs - this.#decidedMs >= endMs ? this.#result('timeout') : undefined;
  }

  #decide(loud: boolean): void {
    const decision = this.#greeting.frame(loud, FRAME_MS);
    this.#decision = this.#beep.sounding ? { result: 'machine', cause: 'beep' } : decision;
    this.#decidedMs = this.#heardMs;
  }

  #result(end: GreetingEnd | undefined): Answering {
    const { leadMs: silenceMs, voiceMs: greetingMs, words } = this.#greeting;
    const { result, cause } = this.#decision as Decision;
    return { result, cause, end, milliseconds: this.#heardMs, silenceMs, greetingMs, words };
  }
}

const SILENCE = new Int16Array(FRAME);

function levelOf(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += Math.abs(sample);
  return sum / frame.length;
}
