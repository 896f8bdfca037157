/** The door of this room: what other rooms use of it. */
export { CallHistory, type CallHistoryOptions, type HistoryState } from './call-history.ts';
export { RECORD_FIELDS } from './history-class.ts';
export { RUN_FIELDS, type RunRecord, runOf, runRecord } from './run-class.ts';
export { RunHistory, type RunHistoryOptions } from './run-history.ts';
export { type FiguresView, HOUR_MS, ScenarioFigures, type ScenarioFiguresOptions } from './scenario-figures.ts';
