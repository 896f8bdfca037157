/** An event package: what a phone can subscribe to (RFC 6665 section 7). */
import type { SipUser } from '../../domain/index.ts';

/** The resource of a subscription; a refusal has the SIP status. */
export type Resource = { readonly key: string } | { readonly refusal: 403 | 404 };

/** The state of a resource. */
export interface ResourceState {
  /** Type of the body. */
  readonly type: string;
  /** The body with this number, which counts the NOTIFYs of a subscription from 0. The same state has the same text. */
  text(version: number): string;
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
  /** The whole present state. @param target as of `resource` */
  state(subscriber: SipUser, target: string): Promise<ResourceState>;
  /**
   * The state of a resource at this node, for the other nodes of a cluster; undefined: nothing to add. Absent where each node has
   * the whole state, as of what is in the database.
   */
  own?(key: string): unknown;
  /** Key of the resource, where only the states of all nodes say whether it exists. */
  place?(subscriber: SipUser, target: string): string;
}

/** The states that other nodes have of a resource: what their `own` returns. */
export type Elsewhere<State> = (key: string) => readonly State[];
