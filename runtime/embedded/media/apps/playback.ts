/** The applications `playback` and `endless_playback`. */
import { type ApplicationStart, NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import { fileList, Player, type PlayResult } from './player.ts';
import { spokenPlayback } from './speech.ts';
import { isTerminator } from './terminators.ts';

const RESPONSES: Readonly<Record<PlayResult, string>> = {
  played: 'FILE PLAYED',
  stopped: 'FILE PLAYED',
  'not-found': 'FILE NOT FOUND',
  timeout: 'PLAYBACK ERROR',
};

/** `playback <sound>`: plays until the end, a terminator digit, `uuid_break` or the timeout. */
class Playback implements RunningApplication {
  readonly #channel: Channel;
  readonly #player: Player;

  constructor(channel: Channel, files: readonly string[]) {
    this.#channel = channel;
    this.#player = new Player(channel, files);
  }

  get response(): string {
    return RESPONSES[this.#player.result];
  }

  tick(): boolean {
    return this.#player.tick();
  }

  digit(digit: string): void {
    if (!isTerminator(this.#channel, digit)) return;
    this.#channel.set('playback_terminator_used', digit);
    this.#player.stop();
  }

  break(): void {
    this.#player.stop();
  }

  pause(): boolean {
    return this.#player.pause();
  }

  end(): void {
    this.#player.stop();
  }
}

const SPOKEN = 'say:';

export const playback: ApplicationStart = (channel, data) =>
  data.startsWith(SPOKEN)
    ? spokenPlayback(channel, data.slice(SPOKEN.length))
    : new Playback(channel, fileList(channel, data));

/** `endless_playback <sound>`: repeats the sound until it is stopped. */
class EndlessPlayback implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  readonly #files: readonly string[];
  #player: Player;
  #stopped = false;

  constructor(channel: Channel, files: readonly string[]) {
    this.#channel = channel;
    this.#files = files;
    this.#player = new Player(channel, files);
  }

  tick(): boolean {
    if (!this.#player.tick()) return false;
    if (this.#stopped || this.#player.result !== 'played') return true;
    this.#player = new Player(this.#channel, this.#files);
    return false;
  }

  break(): void {
    this.end();
  }

  pause(): boolean {
    return this.#player.pause();
  }

  end(): void {
    this.#stopped = true;
    this.#player.stop();
  }
}

export const endlessPlayback: ApplicationStart = (channel, data) =>
  new EndlessPlayback(channel, fileList(channel, data));
