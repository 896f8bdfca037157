/** The media server is unreachable or refused the password. */
export class MediaLinkError extends Error {
  override readonly name = 'MediaLinkError';
}

/** The media server is reachable but refuses this node: retrying does not help. */
export class MediaAccessRefused extends MediaLinkError {}
