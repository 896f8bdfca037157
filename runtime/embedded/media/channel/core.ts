import type { RunProgram } from '../../thread/run-program.ts';
import type { SoundLibrary } from '../audio/sound-library.ts';
import type { EventBus } from '../core/event-bus.ts';
import type { Identity } from '../core/identity.ts';
import type { TimerSet } from '../core/timer-set.ts';
import type { TurnBook } from '../core/turn-book.ts';
import type { Ticker } from '../rtp/ticker.ts';
import type { ApplicationTable } from './application.ts';
import type { Channel } from './channel.ts';

/** The part of the media server that channels and their applications use. */
export interface ChannelCore {
  readonly identity: Identity;
  readonly bus: EventBus;
  readonly ticker: Ticker;
  readonly turns: TurnBook<Channel>;
  readonly timers: TimerSet;
  readonly sounds: SoundLibrary;
  /** Folder of recordings with relative names. */
  readonly recordings: string;
  /** Runs programs on this machine, such as a speech synthesizer. */
  readonly run: RunProgram;
  readonly applications: ApplicationTable;
  /** The live channels, by id. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** A channel has ended. */
  leave(channel: Channel): void;
}
