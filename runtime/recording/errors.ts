/** What was asked of a recording cannot be done; nothing has changed. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
  /** The parameter that it is about. */
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string, options?: ErrorOptions) {
    super(`${field}: ${reason}`, options);
    this.field = field;
    this.reason = reason;
  }
}
