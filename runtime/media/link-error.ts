/** The media server could not be reached or did not accept the password. */
export class MediaLinkError extends Error {
  override readonly name = 'MediaLinkError';
}
