import type { CallFacts } from '../../callstore/index.ts';
import type { DomainName } from '../../domain-name/index.ts';

/** What stays with a call through transfers: a dialog passes it on to the dialog that replaces it. */
export interface CarriedState {
  /** Labels (specification, "SETUP_BINDINGS"). */
  readonly labels: ReadonlySet<string>;
  /** Domains that have paused their recording of the call. */
  readonly pausedRecordings: ReadonlySet<DomainName>;
  /** Whether the hold melody is stopped for good. */
  readonly melodyOff: boolean;
  /** The latest operation that made or changed the call. */
  readonly operation?: CallFacts['operation'];
}

/** The state of a new call, with its label if it has one. */
export function freshState(label?: string): CarriedState {
  return withLabel({ labels: new Set(), pausedRecordings: new Set<DomainName>(), melodyOff: false }, label);
}

/** The state with one more label, if there is one to add. */
export function withLabel(state: CarriedState, label: string | undefined): CarriedState {
  return label === undefined || label === '' ? state : { ...state, labels: new Set([...state.labels, label]) };
}

/** The state of the call into which two calls are joined. */
export function joinedState(one: CarriedState, other: CarriedState): CarriedState {
  return {
    labels: new Set([...one.labels, ...other.labels]),
    pausedRecordings: new Set([...one.pausedRecordings, ...other.pausedRecordings]),
    melodyOff: one.melodyOff || other.melodyOff,
    operation: one.operation ?? other.operation,
  };
}

/** The state of a call that an operation changes. */
export function withOperation(state: CarriedState, operation: CallFacts['operation']): CarriedState {
  return operation === undefined ? state : { ...state, operation };
}
