/**
 * Reports a defect of the server that ends one call or one connection, so that the others go on: as a process warning,
 * which the owner's process shows with its stack.
 *
 * @param what what was going on, for the reader of the warning
 */
export function reportFault(what: string, error: unknown): void {
  const warning = error instanceof Error ? error : new Error(String(error));
  process.emitWarning(Object.assign(warning, { message: `media server: ${what}: ${warning.message}` }));
}
