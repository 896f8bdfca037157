/** The result of a simulation for programs. */
import { type Caller, callerOf, callidOf, type Run, type RunView, type TraceEntry, viewOf } from '../../runs/index.ts';
import type { CallEvent } from './call-script.ts';
import type { Happenings } from './happenings.ts';
import type { Simulation } from './simulation.ts';

/** A step of a simulated run, with its events. */
interface SimulatedEntry extends TraceEntry {
  readonly events?: readonly CallEvent[];
}

/** A simulated run in the form of a trace; a node's `trace --json` is the same without the events. */
export interface SimulatedRunView extends RunView {
  readonly trace: readonly SimulatedEntry[];
  readonly children?: readonly SimulatedRunView[];
  /** Runs that got its call by `serve`. */
  readonly served?: readonly SimulatedRunView[];
}

/** The result of a simulation, for programs. */
export function simulationView({ run, call, happenings }: Simulation): SimulatedRunView {
  const caller = callerOf(call);
  const served = happenings.served.map((each) => withEvents(each, caller, happenings));
  return { ...withEvents(run, caller, happenings), ...(served.length === 0 ? {} : { served }) };
}

function withEvents(run: Run, caller: Caller, happenings: Happenings): SimulatedRunView {
  const events = happenings.of(run);
  const { children: _children, ...view } = viewOf(run, caller);
  const children = run.children.map((child) => withEvents(child, { ...caller, callid: callidOf(child) }, happenings));
  return {
    ...view,
    trace: view.trace.map((entry) => {
      const during = events.get(entry.step);
      return during ? { ...entry, events: during } : entry;
    }),
    ...(children.length === 0 ? {} : { children }),
  };
}
