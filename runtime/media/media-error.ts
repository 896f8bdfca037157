/** The media server refused or failed an operation. `status` is the SIP status to give to a caller. */
export class MediaError extends Error {
  override readonly name: string = 'MediaError';
  readonly status: number;
  constructor(message: string, status = 500, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Nothing was spoken: the media server has no speech engine. */
export class NoSpeechEngine extends MediaError {
  override readonly name = 'NoSpeechEngine';
  constructor() {
    super('the media server has no speech engine: nothing was spoken');
  }
}

/** The endpoint is gone: the call ended or the media server dropped it. */
export class EndpointGone extends MediaError {
  override readonly name = 'EndpointGone';
  constructor() {
    super('the media endpoint is gone');
  }
}

/** Every call ends with it: one for all, as making a stack trace would be the dearest part of a hang-up. */
export const ENDPOINT_GONE = new EndpointGone();
