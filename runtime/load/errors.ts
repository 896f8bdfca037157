/** The load cannot begin; the message says why and what to do. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}
