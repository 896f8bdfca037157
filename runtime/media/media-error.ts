/** The media server refused or failed an operation. `status` is the SIP status for the caller. */
export class MediaError extends Error {
  override readonly name: string = 'MediaError';
  readonly status: number;
  /** Reason phrase for the caller, where the usual one of the status says too little. */
  readonly phrase: string | undefined;
  constructor(message: string, status = 500, { phrase, ...options }: ErrorOptions & { phrase?: string } = {}) {
    super(message, options);
    this.status = status;
    this.phrase = phrase;
  }
}

/** The media server has no speech engine; nothing was spoken. */
export class NoSpeechEngine extends MediaError {
  override readonly name = 'NoSpeechEngine';
  constructor() {
    super('the media server has no speech engine: nothing was spoken');
  }
}

/** The endpoint no longer exists: the call ended, or the media server dropped it. */
export class EndpointGone extends MediaError {
  override readonly name = 'EndpointGone';
  constructor() {
    super('the media endpoint is gone');
  }
}

/** Shared by all calls that end: a stack trace each would be the most expensive part of a hangup. */
export const ENDPOINT_GONE = new EndpointGone();
