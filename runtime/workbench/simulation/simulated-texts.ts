/** Text messages in a simulation. */
import type { Answer, Clock, TextMessage, TextPort } from '../../runs/index.ts';
import { AT_ONCE, followAnswers } from './answers.ts';
import type { Phones } from './phones.ts';

/** Timeout of an answer, in milliseconds. */
const PATIENCE_MS = 20_000;
const BUSY = 486;

/** Texts in a simulation: a phone answers them like calls, but without ringing, and accepts them while busy. */
export class SimulatedTexts implements TextPort {
  readonly #clock: Clock;
  readonly #phones: Phones;
  readonly #note: (what: string) => void;

  /** @param phones by number or login; others accept every text */
  constructor(clock: Clock, phones: Phones, note: (what: string) => void) {
    this.#clock = clock;
    this.#phones = phones;
    this.#note = note;
  }

  async send(_domain: string, { to, text }: TextMessage): Promise<Answer> {
    this.#note(`message ${to} ${text}`);
    const answers = this.#phones.texted(to)?.answers ?? AT_ONCE;
    const final = answers.find(({ status }) => status >= 200);
    const taken = final !== undefined && (final.status < 300 || final.status === BUSY);
    const script = taken ? AT_ONCE : final === undefined ? [] : [{ ...final, local: nobody(final.status) }];
    const { signal } = new AbortController();
    return followAnswers(script, { clock: this.#clock, signal, timeoutMs: PATIENCE_MS, lowest: 200 }).final;
  }
}

/** Answers of the platform in place of a phone: unknown, not registered. */
function nobody(status: number): boolean {
  return status === 404 || status === 480;
}
