/** The door of this room: what other rooms use of it. */
export {
  CALL_RESULTS,
  type CallEnding,
  type CallFacts,
  type CallHistory,
  type CallResult,
  type LegFacts,
  type MediaFacts,
  type PartyFacts,
} from './call-facts.ts';
export { CallIds } from './call-ids.ts';
export { type CallStore, type DialogScope, type DialogSelector, SELECTOR_KEYS, type SelectorKey } from './callstore.ts';
export {
  CONFERENCE_SELECTOR_KEYS,
  type ConferenceSelector,
  type ConferenceSelectorKey,
  type ConferenceStore,
} from './conference-store.ts';
export {
  CONFERENCE_FIELDS,
  type ConferenceView,
  PARTICIPANT_FIELDS,
  PARTICIPANT_STATES,
  type ParticipantState,
  type ParticipantView,
  type TopologyEntry,
} from './conference-view.ts';
export { DIALOG_FIELDS, type DialogOpts, type DialogStatus, type DialogView, type LegView } from './dialog-view.ts';
export { type DialogEntry, type DialogParty, MemoryCallStore } from './memory-callstore.ts';
export { MemoryConferenceStore } from './memory-conference-store.ts';
export type { FarewellIndex, SharedFarewell } from './shared-farewell.ts';
export { tellOnce } from './tell-once.ts';
export type { CallIndex, HomeOf, SharedCall, SharedSide, SipPlace } from './shared-call.ts';
