/** Which event leads from which state to which; a state ignores the events that it does not list. */
export type TransitionTable<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>;

/** A state that changes only along its table. */
export class StateMachine<State extends string, Event extends string> {
  #state: State;
  readonly #table: TransitionTable<State, Event>;

  constructor(table: TransitionTable<State, Event>, initial: State) {
    this.#table = table;
    this.#state = initial;
  }

  get state(): State {
    return this.#state;
  }

  is(state: State): boolean {
    return this.#state === state;
  }

  /**
   * Takes an event.
   * @returns the state in which the event came; undefined when that state ignores it
   */
  step(event: Event): State | undefined {
    const from = this.#state;
    const next = this.#table[from][event];
    if (next === undefined) return undefined;
    this.#state = next;
    return from;
  }
}
