/** The caller's side of an answered call: talks, listens, hangs up. */
import { SOUND_GRACE_MS } from '../limits.ts';
import { Ear, type SoundVerdict, verdictOf } from '../media/ear.ts';
import { addReceived } from '../media/reception.ts';
import type { FarEnd, Sound } from '../media/sound.ts';
import { CALLER_TONES, REPLY_TONES } from '../media/tones.ts';
import type { LoadPlan } from '../plan.ts';
import type { Leg } from './leg.ts';
import type { CallRecord, Failure } from './record.ts';
import type { CallTools } from './tools.ts';

const SOUND_FAILURES: Readonly<Record<Exclude<SoundVerdict, 'right'>, Failure>> = {
  none: { kind: 'no sound', detail: 'the caller hears nothing' },
  'one-way': { kind: 'one-way', detail: 'the caller hears, and is not heard' },
  wrong: { kind: 'wrong sound', detail: 'the caller hears another sound' },
};

/** The caller's ear and voice of one call. */
export class Conversation {
  readonly #tone: number;
  readonly #expected: number | 'any';
  readonly #record: CallRecord;
  readonly ear: Ear | undefined;
  #enough: () => void = () => undefined;

  /**
   * @param index of the call, which chooses its tone
   * @param began `performance.now()` of the start of the call
   */
  constructor(plan: LoadPlan, record: CallRecord, index: number, began: number) {
    const which = index % CALLER_TONES.length;
    this.#tone = CALLER_TONES[which] as number;
    const reply = REPLY_TONES[which] as number;
    this.#expected = plan.callee.kind === 'phones' ? reply : plan.callee.hears === 'any' ? 'any' : this.#tone;
    this.#record = record;
    if (!record.isChecked) return;
    this.ear = new Ear(this.#expected === 'any' ? reply : this.#expected, (sound, heard) => {
      // Ringback and announcements are not the called party's sound, unless any sound is right.
      if (sound !== 'silence' && (sound !== 'other' || this.#expected === 'any')) record.sound ??= heard - began;
      if (!this.#hearsEnough()) return;
      record.isHeard = true;
      this.#enough();
    });
  }

  /** Sends the caller's tone from now on. */
  connect(sound: Sound, far: FarEnd): void {
    sound.connect(far, this.ear);
    sound.play(this.#tone);
  }

  /**
   * Talks for the time of the plan, longer while the sound is missing, and hangs up; ends early when the far end hangs up
   * or the run is stopped. Writes the failure into the record.
   */
  async talk(leg: Leg, sound: Sound, { plan, stop, received }: CallTools): Promise<void> {
    const end = await this.#end(leg, plan.talkMs, stop);
    const why = await leg.hangUp();
    addReceived(received.caller, sound.received);
    if (end === 'stopped') this.#record.isCutShort = true;
    else this.#record.failure ??= this.#failure(end, why);
  }

  #failure(end: 'over' | 'dropped', why: string | undefined): Failure | undefined {
    if (end === 'dropped') return { kind: 'dropped', detail: 'the far end hung up' };
    const verdict = this.ear === undefined ? 'right' : verdictOf(this.ear.heard, this.#expected);
    if (verdict !== 'right') return SOUND_FAILURES[verdict];
    return why === undefined ? undefined : { kind: 'bad end', detail: why };
  }

  #hearsEnough(): boolean {
    return this.ear === undefined || verdictOf(this.ear.heard, this.#expected) === 'right';
  }

  #end(leg: Leg, talkMs: number, stop: AbortSignal): Promise<'over' | 'dropped' | 'stopped'> {
    return new Promise((resolve) => {
      let timer = setTimeout(() => {
        const over = (): void => finish('over');
        if (this.#hearsEnough()) {
          over();
          return;
        }
        this.#enough = over;
        timer = setTimeout(over, SOUND_GRACE_MS);
      }, talkMs);
      const stopped = (): void => finish('stopped');
      const finish = (end: 'over' | 'dropped' | 'stopped'): void => {
        clearTimeout(timer);
        stop.removeEventListener('abort', stopped);
        resolve(end);
      };
      void leg.dropped.then(() => finish('dropped'));
      stop.addEventListener('abort', stopped);
      if (stop.aborted) stopped();
    });
  }
}
