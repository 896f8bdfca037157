/** @returns the function that runs `action` at its first call, and returns its result at each */
export function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= action());
}
