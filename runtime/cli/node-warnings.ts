import process from 'node:process';

/** Hides Node's warnings about experimental functions: the bundled Node release is the tested one. */
export function hideNodeWarnings(): void {
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const listener of listeners) listener(warning);
  });
}
