/** Closes the embedded SIP server to new calls while the node is overloaded. */
import type { CallGate } from '../embedded/index.ts';
import { ArrivalQueue, type SetupQueue } from '../switch/index.ts';

/** Milliseconds without a call after which none is on its way. */
const QUIET_MS = 1000;

/** Tells the SIP server how many calls may be on their way to the node. */
export class CallDoor {
  readonly #gate: CallGate;
  readonly #setups: SetupQueue;
  readonly #arrivals: ArrivalQueue;
  readonly #refused: (calls: number) => void;
  #quiet: NodeJS.Timeout | undefined;

  /** @param refused called with the number of calls that the SIP server has refused since the last time */
  constructor(gate: CallGate, setups: SetupQueue, refused: (calls: number) => void) {
    this.#gate = gate;
    this.#setups = setups;
    this.#refused = refused;
    this.#arrivals = new ArrivalQueue(() => gate.coming);
    setups.coming = () => gate.coming;
    setups.onChange = () => this.#changed();
  }

  /** A call has come. @param waitedMs milliseconds since the SIP server received it */
  came(waitedMs: number): void {
    this.#gate.take();
    this.#arrivals.came(waitedMs);
    this.#changed();
    clearTimeout(this.#quiet);
    // A call that never comes would keep the door shut: it may have been lost with a connection.
    if (this.#arrivals.room !== undefined) this.#quiet = setTimeout(() => this.#nothingComes(), QUIET_MS).unref();
  }

  /** True when the call that came last would be set up too late. */
  get late(): boolean {
    return this.#arrivals.refuses();
  }

  /** True during an overload while the SIP server refuses new calls. */
  get shut(): boolean {
    return this.#gate.shut;
  }

  #nothingComes(): void {
    this.#arrivals.drained();
    this.#gate.settle();
    this.#changed();
  }

  #changed(): void {
    const rooms = [this.#setups.room, this.#arrivals.room].filter((room) => room !== undefined);
    this.#gate.room = rooms.length === 0 ? undefined : Math.min(...rooms);
    if (this.#setups.empty && this.#arrivals.flows) this.#gate.settle();
    const refused = this.#gate.refused();
    if (refused > 0) this.#refused(refused);
  }
}
