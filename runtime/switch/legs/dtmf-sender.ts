/** Sends queued DTMF to one leg. */
import type { DtmfProto, TailStep } from '../../runs/index.ts';
import { untilAborted } from '../../media/index.ts';

/** Milliseconds of one digit and the gap after it. */
const DIGIT_MS = 290;
/** The media server refuses longer strings. */
const MAX_DIGITS = 90;
/** Most digits and pauses in the queue: two minutes of digits. */
const MAX_WAITING = 512;

/** The queue of digits for a leg is full. */
export class DtmfQueueFull extends Error {
  override readonly name = 'DtmfQueueFull';
  constructor() {
    super('too many digits wait to be sent');
  }
}

/** Sends DTMF to one leg, one request after the other, so that the digits of two requests do not mix. */
export class DtmfSender {
  readonly #put: (digits: string, proto: DtmfProto) => Promise<void>;
  readonly #gone: () => AbortSignal;
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;

  /**
   * @param put hands digits to the far end, and settles when they are on their way
   * @param gone aborted at the end of the leg, which drops the queue
   */
  constructor(put: (digits: string, proto: DtmfProto) => Promise<void>, gone: () => AbortSignal) {
    this.#put = put;
    this.#gone = gone;
  }

  /** True after the end of the leg. */
  get over(): boolean {
    return this.#gone().aborted;
  }

  /** Whether the queue has room for these steps. */
  hasRoom(steps: readonly TailStep[]): boolean {
    return this.#waiting + lengthOf(steps) <= MAX_WAITING;
  }

  /**
   * Queues digits and pauses; settles when the last one is out.
   * @param signal drops the steps that were not sent yet
   * @throws DtmfQueueFull at once; the signal's reason after an abort
   */
  async send(steps: readonly TailStep[], proto: DtmfProto, signal?: AbortSignal): Promise<void> {
    const length = lengthOf(steps);
    if (!this.hasRoom(steps)) throw new DtmfQueueFull();
    this.#waiting += length;
    const turn = this.#work;
    const done = turn.then(() => this.#play(steps, proto, signal));
    this.#work = done.then(
      () => void (this.#waiting -= length),
      () => void (this.#waiting -= length),
    );
    await done;
  }

  async #play(steps: readonly TailStep[], proto: DtmfProto, signal: AbortSignal | undefined): Promise<void> {
    const gone = this.#gone();
    const over = signal === undefined ? gone : AbortSignal.any([signal, gone]);
    for (const step of steps.flatMap((each) => slices(each, proto))) {
      over.throwIfAborted();
      if (step.kind === 'digits') await untilAborted(this.#put(step.digits, proto), over);
      await untilAborted(elapsed(step.kind === 'pause' ? step.ms : step.digits.length * DIGIT_MS), over);
    }
  }
}

function lengthOf(steps: readonly TailStep[]): number {
  return steps.reduce((sum, step) => sum + (step.kind === 'digits' ? step.digits.length : 1), 0);
}

/** INFO takes one digit a request; the media server takes many at once. */
function slices(step: TailStep, proto: DtmfProto): TailStep[] {
  if (step.kind === 'pause') return [step];
  const size = proto === 'sipinfo' ? 1 : MAX_DIGITS;
  const parts = step.digits.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return parts.map((digits) => ({ kind: 'digits', digits }));
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
