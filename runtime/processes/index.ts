/** Starts programs by way of a small process, so that a node with calls never stands still for it, and says which processors they use. */
export { type Birth, Nursery } from './nursery.ts';
export {
  allowedProcessors,
  countProcessors,
  keepTo,
  processorTime,
  withoutFirstProcessor,
} from './processors.ts';
export { type ProgramInput, programRunner, type RunProgram, shellOrder } from './programs.ts';
