/**
 * Processes of the benchmark collect garbage without helpers, and only when it has piled up: a hundred seconds after their start
 * V8 would look for it all the same, and hold up what is measured.
 */
export const QUIET_GC = ['--single-threaded-gc', '--no-memory-reducer', '--no-incremental-marking-task'] as const;
