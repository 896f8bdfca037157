import type { EndpointServer, MediaEndpoint } from '../../media/endpoint.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * Two endpoints whose far ends are each other: what is played to one is heard on the other. So those talk who have no media
 * of their own: a scenario with another one, or with a conference.
 */
export interface EndpointPair {
  readonly one: MediaEndpoint;
  readonly other: MediaEndpoint;
  close(): void;
}

/**
 * @param on the media server; left out: any
 * @throws MediaError
 */
export async function openPair(
  tools: Pick<SwitchTools, 'createEndpoint' | 'background'>,
  leg: { readonly callid: string },
  on?: EndpointServer,
): Promise<EndpointPair> {
  const one = await tools.createEndpoint({ on });
  try {
    const other = await tools.createEndpoint({ on: one.server, remoteSdp: one.localSdp });
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
