import type { DomainName } from '../../domain-name/index.ts';

/** What stays with a call through transfers: a dialog passes it on to the one that replaces it. */
export interface CarriedState {
  /** Labels (specification, "SETUP_BINDINGS"). */
  readonly labels: ReadonlySet<string>;
  /** Domains that have paused their recording of the call. */
  readonly pausedRecordings: ReadonlySet<DomainName>;
  /** Whether the hold melody is stopped for good. */
  readonly melodyOff: boolean;
}

/** State of a call that begins, with its label where one is given. */
export function freshState(label?: string): CarriedState {
  return withLabel({ labels: new Set(), pausedRecordings: new Set<DomainName>(), melodyOff: false }, label);
}

/** The same with one more label, where one is given. */
export function withLabel(state: CarriedState, label: string | undefined): CarriedState {
  return label === undefined || label === '' ? state : { ...state, labels: new Set([...state.labels, label]) };
}

/** State of a call that two calls become. */
export function joinedState(one: CarriedState, other: CarriedState): CarriedState {
  return {
    labels: new Set([...one.labels, ...other.labels]),
    pausedRecordings: new Set([...one.pausedRecordings, ...other.pausedRecordings]),
    melodyOff: one.melodyOff || other.melodyOff,
  };
}
