import type { EndpointServer, MediaEndpoint } from '../media/endpoint.ts';
import type { SwitchTools } from './tools.ts';

/**
 * What a conference speaks and hears with when it calls a scenario, which has no media of its own: two endpoints whose
 * far ends are each other. What the scenario plays to one is said by the other in the room, and the other way round.
 */
export interface RoomVoice {
  readonly facing: MediaEndpoint;
  readonly inRoom: MediaEndpoint;
  close(): void;
}

/** @throws MediaError */
export async function openVoice(
  tools: SwitchTools,
  leg: { readonly callid: string; readonly mediaServer: EndpointServer },
): Promise<RoomVoice> {
  const on = leg.mediaServer;
  const inRoom = await tools.createEndpoint({ on });
  try {
    const facing = await tools.createEndpoint({ on, remoteSdp: inRoom.localSdp });
    const close = () => {
      for (const endpoint of [inRoom, facing]) tools.background(endpoint.destroy(), 'endpoint', leg);
    };
    try {
      await inRoom.modify(facing.localSdp);
      return { facing, inRoom, close };
    } catch (error) {
      await facing.destroy();
      throw error;
    }
  } catch (error) {
    await inRoom.destroy();
    throw error;
  }
}
