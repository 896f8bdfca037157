/**
 * Reports a defect of the server that ended only one call or connection: as a process warning, shown with its stack.
 *
 * @param what the failed activity, for the text of the warning
 */
export function reportFault(what: string, error: unknown): void {
  const warning = error instanceof Error ? error : new Error(String(error));
  process.emitWarning(Object.assign(warning, { message: `media server: ${what}: ${warning.message}` }));
}
