import type { Channel } from './channel.ts';

/** The other leg of a channel's bridge. */
export function bridgedTo(channel: Channel): Channel | undefined {
  const { bridged, otherLeg, core } = channel;
  return !bridged || otherLeg === undefined ? undefined : core.channels.get(otherLeg.uuid);
}
