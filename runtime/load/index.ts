/**
 * The door of the load kit: calls at a rate against a node, with sound checked by tone, and a report. Everything about it
 * is bounded by `limits.ts`, and on loopback unless the plan allows more.
 */
export { localAddressFor, resolveHost } from './addresses.ts';
export { LoadError } from './errors.ts';
export { MAX_CALLS, MAX_LIVE, MAX_RATE, MAX_RING_S, MAX_SECONDS, MAX_TALK_S, MIN_SOUND_TALK_MS } from './limits.ts';
export type { Account, Callee, LoadPlan, Originate } from './plan.ts';
export { reportHtml } from './report/html.ts';
export { type LoadReport, reportOf } from './report/report.ts';
export { reportText } from './report/text.ts';
export { LoadRun, type Progress } from './run.ts';
