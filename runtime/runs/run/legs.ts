/** Further calls of a run. */
import { type CallPort, CallStateError, type OwnCall } from '../call-port.ts';
import { ScenarioError } from '../../language/index.ts';

/** Limit of concurrent further calls of one run. */
const MAX_LEGS = 20;

/** The further calls of a run, by the author's names. */
export class Legs {
  readonly #open: () => OwnCall;
  readonly #calls = new Map<string, CallPort>();

  /** @param open makes a new call in state `none` */
  constructor(open: () => OwnCall) {
    this.#open = open;
  }

  find(name: string): CallPort | undefined {
    return this.#calls.get(name);
  }

  get calls(): readonly CallPort[] {
    return [...this.#calls.values()];
  }

  /** @throws ScenarioError code `no_such_leg` */
  get(name: string): CallPort {
    const call = this.#calls.get(name);
    if (!call) throw new ScenarioError('no_such_leg', `there is no call "${name}"; make it by call: with leg: ${name}`);
    return call;
  }

  /**
   * A call in state `none` under this name, in place of an ended one.
   * @throws ScenarioError codes `leg_in_use`, `too_many`
   */
  place(name: string): OwnCall {
    const before = this.#calls.get(name);
    if (before && !before.endSignal.aborted && before.state !== 'none')
      throw new ScenarioError('leg_in_use', `the call "${name}" is still ${before.state}`);
    if (!before && this.#calls.size >= MAX_LEGS)
      throw new ScenarioError('too_many', `a run has ${MAX_LEGS} legs at most`);
    const call = this.#open();
    this.#calls.set(name, call);
    return call;
  }

  /** Hangs up all remaining calls. */
  async release(): Promise<void> {
    const hangUp = async (call: CallPort): Promise<void> => {
      if (call.endSignal.aborted || call.state === 'none') return;
      try {
        await call.hangup();
      } catch (error) {
        // The other party may have ended the call at the same moment.
        if (!(error instanceof CallStateError)) throw error;
      }
    };
    await Promise.all([...this.#calls.values()].map(hangUp));
  }
}
