/** Who may open a WebSocket. Apart from its use, which loads a library. */

/** Who may open a WebSocket. */
export interface WebSocketRules {
  /** Allowed origins of pages beside those of the host of the request: `https://shop.example.com`, or `*`. */
  readonly origins?: readonly string[];
  /** Takes connections only from a proxy that knows the secret and names the phone's address. */
  readonly forwarded?: {
    readonly secret: string;
    /** The host under which these phones see this server, in Via and Contact. */
    readonly host: string;
  };
}

/** The request header in which a proxy names the secret, and the transport, address and port of a phone. */
export const FORWARDED_HEADER = 'x-ringmaster-forwarded';
