import { expect } from 'chai';
import { StateMachine, type TransitionTable } from '../../runtime/transitions/index.ts';

/** The next state for each state and event; `-`: the state ignores the event. No pair may be missing. */
export type ExpectedTransitions<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Record<Event, State | '-'>>>
>;

/** Every pair of a state and an event. */
export function pairsOf<State extends string, Event extends string>(
  expected: ExpectedTransitions<State, Event>,
): readonly { readonly from: State; readonly event: Event; readonly to: State | '-' }[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record are its key type
  const states = Object.entries(expected) as [State, Record<Event, State | '-'>][];
  return states.flatMap(([from, events]) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record are its key type
    (Object.entries(events) as [Event, State | '-'][]).map(([event, to]) => ({ from, event, to })),
  );
}

/** Defines a test for every pair of a state and an event. */
export function itFollows<State extends string, Event extends string>(
  table: TransitionTable<State, Event>,
  expected: ExpectedTransitions<State, Event>,
): void {
  for (const { from, event, to } of pairsOf(expected)) {
    it(to === '-' ? `${from} ignores ${event}` : `${from} + ${event} is ${to}`, () => {
      const machine = new StateMachine(table, from);
      expect(machine.step(event)).to.equal(to === '-' ? undefined : from);
      expect(machine.state).to.equal(to === '-' ? from : to);
    });
  }
}
