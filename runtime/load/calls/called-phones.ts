/** The called phones of a load: they answer every call, and answer the caller's tone with their own. */
import type { ServerTransaction } from '../../embedded/stack/index.ts';
import { SOUND_GRACE_MS } from '../limits.ts';
import { callerToneOf, Ear } from '../media/ear.ts';
import { addReceived } from '../media/reception.ts';
import { CALLER_TONES, REPLY_TONES, WAITING_TONE } from '../media/tones.ts';
import { answer, type Answered } from './incoming.ts';
import type { CallTools } from './tools.ts';

/** Milliseconds after its time at which a called phone ends a call that is still up. */
const FORGOTTEN_MS = 30_000;

/** Takes calls until the run is over. */
export class CalledPhones {
  readonly #tools: CallTools;
  readonly #live = new Set<Promise<void>>();
  readonly #legs = new Set<Answered>();
  /** Calls answered, and those of them in which the caller's tone was heard. */
  readonly counts = { answered: 0, heard: 0 };

  constructor(tools: CallTools) {
    this.#tools = tools;
  }

  /** Answers a call. */
  take(login: string, transaction: ServerTransaction): void {
    const call = this.#serve(login, transaction).finally(() => this.#live.delete(call));
    this.#live.add(call);
  }

  /** Waits for the end of the calls; after a while it ends them. @param withinMs how long they may take */
  async end(withinMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const { leg } of this.#legs) void leg.hangUp();
    }, withinMs);
    await Promise.all(this.#live);
    clearTimeout(timer);
  }

  async #serve(login: string, transaction: ServerTransaction): Promise<void> {
    const { plan, received } = this.#tools;
    const answered = await answer(this.#tools, login, transaction, plan.ringMs);
    if (answered === undefined) return;
    this.counts.answered += 1;
    this.#legs.add(answered);
    const { leg, sound, far } = answered;
    sound.connect(far, plan.soundEvery > 0 ? this.#ear(answered) : undefined);
    sound.play(WAITING_TONE);
    const forgotten = setTimeout(() => void leg.hangUp(), plan.talkMs + SOUND_GRACE_MS + FORGOTTEN_MS);
    await leg.ended;
    clearTimeout(forgotten);
    this.#legs.delete(answered);
    addReceived(received.called, sound.received);
  }

  #ear({ sound }: Answered): Ear {
    let isFirst = true;
    return new Ear(CALLER_TONES[0], (heard) => {
      const index = callerToneOf(heard);
      if (index === undefined) return;
      if (isFirst) this.counts.heard += 1;
      isFirst = false;
      sound.play(REPLY_TONES[index] as number);
    });
  }
}
