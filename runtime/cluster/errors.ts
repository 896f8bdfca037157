/** Why another node could not be asked. */

/** The node is gone: NATS has nobody who listens for it, or its heartbeats ended. */
export class NodeGoneError extends Error {
  override readonly name = 'NodeGoneError';
  readonly node: string;
  /** @param node name of the node */
  constructor(node: string) {
    super(`node ${node} is gone`);
    this.node = node;
  }
}

/** The node is there and does not answer in time. */
export class NodeSilentError extends Error {
  override readonly name = 'NodeSilentError';
  readonly node: string;
  constructor(node: string, timeoutMs: number) {
    super(`node ${node} does not answer within ${timeoutMs} ms`);
    this.node = node;
  }
}

/** This node is not connected with the others: NATS is away. */
export class ClusterAwayError extends Error {
  override readonly name = 'ClusterAwayError';
  constructor() {
    super('this node has no connection to the other nodes of the cluster: NATS is away');
  }
}

/** The other node failed at the request. */
export class NodeFailedError extends Error {
  override readonly name = 'NodeFailedError';
}
