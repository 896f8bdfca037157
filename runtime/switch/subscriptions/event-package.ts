/** An event package: what a phone can subscribe to (RFC 6665 section 7). */
import type { SipUser } from '../../domain/index.ts';

/** The resource of a subscription; a refusal has the SIP status. */
export type Resource = { readonly key: string } | { readonly refusal: 403 | 404 };

export interface NotifyBody {
  readonly type: string;
  readonly text: string;
}

export interface EventPackage {
  /** In Event and Allow-Events. */
  readonly name: string;
  /** Type of its bodies. */
  readonly type: string;
  /** Seconds of a subscription without Expires. */
  readonly defaultExpires: number;
  /**
   * The resource that a sipuser asks for.
   * @param target number or login in the Request-URI
   */
  resource(subscriber: SipUser, target: string): Resource;
  /**
   * The whole present state.
   * @param target as of `resource`
   * @param version of the first NOTIFY 0, then one more each
   */
  body(subscriber: SipUser, target: string, version: number): Promise<NotifyBody>;
}
