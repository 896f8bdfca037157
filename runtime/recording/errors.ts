/** An invalid request about a recording; it had no effect. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
  /** The parameter at fault. */
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string, options?: ErrorOptions) {
    super(`${field}: ${reason}`, options);
    this.field = field;
    this.reason = reason;
  }
}
