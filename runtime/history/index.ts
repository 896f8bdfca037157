/** The door of this room: what other rooms use of it. */
export { CallHistory, type CallHistoryOptions, type HistoryState } from './call-history.ts';
export { RECORD_FIELDS } from './history-class.ts';
