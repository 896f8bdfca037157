/**
 * Starts programs through a small process, so that a node with calls never blocks for it, and controls their priority
 * and processors.
 */
export { type Birth, Nursery } from './nursery.ts';
export { allowedProcessors, offFirstProcessor, withoutFirstProcessor } from './processors.ts';
export { type ProgramInput, programRunner, type RunProgram, shellOrder } from './programs.ts';
