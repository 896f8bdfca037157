import type { Channel } from './channel.ts';

/** The other leg of the bridge that a channel is in. */
export function bridgedTo(channel: Channel): Channel | undefined {
  const { state, otherLeg, core } = channel;
  return state !== 'CS_SOFT_EXECUTE' || otherLeg === undefined ? undefined : core.channels.get(otherLeg.uuid);
}
