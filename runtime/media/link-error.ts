/** The media server could not be reached or did not accept the password. */
export class MediaLinkError extends Error {
  override readonly name = 'MediaLinkError';
}

/** The media server answers and does not let the node in: waiting does not help. */
export class MediaAccessRefused extends MediaLinkError {}
