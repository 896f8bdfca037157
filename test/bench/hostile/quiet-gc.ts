/**
 * Processes of the benchmark collect garbage without helper threads, and only when much has accumulated: otherwise V8 would
 * do so a hundred seconds after their start, and delay the measurement.
 */
export const QUIET_GC = ['--single-threaded-gc', '--no-memory-reducer', '--no-incremental-marking-task'] as const;
