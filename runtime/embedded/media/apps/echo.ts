/** The application `echo`. */
import { NO_RESPONSE, type ApplicationStart, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';

/** Sends back what the far end says, until `uuid_break`. */
class Echo implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  readonly #release: () => void;
  #broken = false;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.#release = channel.audio.listen();
  }

  tick(): boolean {
    const frame = this.#channel.audio.read();
    if (frame === undefined) this.#channel.rtp.writeNothing();
    else this.#channel.audio.write(frame);
    return this.#broken;
  }

  digit(digit: string): void {
    this.#channel.rtp.sendDigits(digit, 100);
  }

  break(): void {
    this.#broken = true;
  }

  end(): void {
    this.#release();
  }
}

export const echo: ApplicationStart = (channel) => new Echo(channel);
