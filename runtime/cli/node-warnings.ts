import process from 'node:process';

/** Node tells of functions that it may change: the Node that we use is the one that we are tested with. */
export function hideNodeWarnings(): void {
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const listener of listeners) listener(warning);
  });
}
