import { NO_RESPONSE, type ApplicationStart, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';

/** Waits for commands, sending silence (`send_silence_when_idle=-1`): `park`, and `socket` under a client's control. */
export class Idle implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  tick(): boolean {
    this.#channel.audio.writeSilence();
    return false;
  }
}

/**
 * `park`. As a command under a connection's control it is done at once, for the channel is parked already; in a
 * dialplan it stays.
 */
export const park: ApplicationStart = (channel) => {
  channel.publish('CHANNEL_PARK');
  return channel.currentApplication === undefined ? new Idle(channel) : NO_RESPONSE;
};
