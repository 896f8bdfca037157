/** Pairs of endpoints that connect two parties without media. */
import type { EndpointServer, MediaEndpoint, PlacedEndpointWish } from '../../media/index.ts';

/** What a pair of endpoints needs from the node. */
export interface PairTools {
  createEndpoint(wish: PlacedEndpointWish): Promise<MediaEndpoint>;
  /** Follows work that outlives its call; a failure is logged. */
  background(work: Promise<unknown>, what: string, leg: { callid: string }): void;
}

/**
 * Two endpoints whose far ends are each other: what is played to one is heard on the other. They connect two
 * parties without media of their own: a scenario and another scenario, or a scenario and a conference.
 */
export interface EndpointPair {
  readonly one: MediaEndpoint;
  readonly other: MediaEndpoint;
  close(): void;
}

/** Both are on one machine. */
const PEER = '127.0.0.1';

/**
 * Opens two endpoints on one media server and connects them with each other.
 * @param leg named in logged failures
 * @param on the media server; left out: any
 * @throws MediaError
 */
export async function openPair(
  tools: PairTools,
  leg: { readonly callid: string },
  on?: EndpointServer,
): Promise<EndpointPair> {
  const one = await tools.createEndpoint({ on, peer: PEER });
  try {
    const other = await tools.createEndpoint({ on: one.server, peer: PEER, remoteSdp: one.localSdp });
    const close = () => {
      for (const endpoint of [one, other]) tools.background(endpoint.destroy(), 'endpoint', leg);
    };
    try {
      await one.modify(other.localSdp);
      return { one, other, close };
    } catch (error) {
      await other.destroy();
      throw error;
    }
  } catch (error) {
    await one.destroy();
    throw error;
  }
}
