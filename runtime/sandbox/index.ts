/** Runs authors' scripts in isolation: see sandbox.ts for the interface. */
export * from './errors.ts';
export { type LazyProcesses, openLazySandbox, openSandbox, type SandboxOptions } from './host/open.ts';
export type { Json } from './json.ts';
export { DEFAULT_LIMITS, type LimitName, type ScriptLimits, type ScriptUsage } from './limits.ts';
export { repetitionText } from './repetition.ts';
export type * from './sandbox.ts';
export type { ScriptBlock, ScriptBlockResult, ScriptHost } from './script-host.ts';
export { compileHere } from './compile-here.ts';
export { isKnownRecord, type ScriptRecord } from './script-record.ts';
export { SCRIPT_GLOBALS } from './script-globals.ts';
export { movedPlaces } from './stack.ts';
