/** Reasons of the front to refuse a message. */
export type RefusalKind =
  /** Not HTTP, or HTTP that two parsers could read in two ways. */
  | 'malformed'
  | 'head-too-large'
  | 'unknown-method'
  | 'unsupported-version'
  | 'unmet-expectation'
  /** The message did not arrive in time. */
  | 'timeout';

/** A refusal, which ends the connection: after a framing error no later byte can be trusted. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  /** For the answer. */
  readonly details: Readonly<Record<string, string>>;

  constructor(kind: RefusalKind, message: string, details: Readonly<Record<string, string>> = {}) {
    super(message);
    this.kind = kind;
    this.details = details;
  }
}
