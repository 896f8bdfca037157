/** The applications `park` and `socket`: a channel that waits for commands. */
import { NO_RESPONSE, type ApplicationStart, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';

/** Waits for commands, sending silence (`send_silence_when_idle=-1`): `park`, and `socket` under a client's control. */
export class Idle implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  end(): void {
    this.#channel.setParked(false);
  }

  tick(): boolean {
    this.#channel.audio.writeSilence();
    return false;
  }
}

/**
 * `park`. Under a connection's control the channel is parked already, so the command completes at once. In a dialplan
 * it keeps the channel.
 */
export const park: ApplicationStart = (channel) => {
  if (channel.currentApplication !== undefined) {
    channel.publish('CHANNEL_PARK');
    return NO_RESPONSE;
  }
  channel.setParked(true);
  return new Idle(channel);
};
