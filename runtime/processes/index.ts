/**
 * Starts programs through a small process, so that a node with calls never blocks for it, and controls their priority
 * and processors.
 */
export { idleOrder, mayEndIdlePolicy, setIdlePolicy } from './idle-policy.ts';
export { type Birth, Nursery } from './nursery.ts';
export { idleTimes, processorTime } from './processor-times.ts';
export { allowedProcessors, keepTo, processorsIn, withoutFirstProcessor } from './processors.ts';
export { type ProgramInput, programRunner, type RunProgram, shellOrder } from './programs.ts';
