import type { RunProgram } from '../../thread/run-program.ts';
import type { ApiTable } from '../api/command.ts';
import type { SoundLibrary } from '../audio/sound-library.ts';
import type { ApplicationTable } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import type { ChannelCore } from '../channel/core.ts';
import type { ConferenceTable } from '../conference/table.ts';
import { MediaFigures } from '../rtp/figures.ts';
import { ThreadLag } from '../rtp/thread-lag.ts';
import { Ticker } from '../rtp/ticker.ts';
import { reportFault } from './fault.ts';
import { EventBus } from './event-bus.ts';
import type { Identity } from './identity.ts';
import { SessionRate } from './session-rate.ts';
import { TimerSet } from './timer-set.ts';
import { TurnBook } from './turn-book.ts';

/** State that all parts of the media server share. */
export class MediaCore implements ChannelCore {
  readonly identity: Identity;
  readonly bus = new EventBus();
  readonly figures = new MediaFigures();
  readonly lag = new ThreadLag();
  readonly timers = new TimerSet();
  readonly sessions = new SessionRate();
  readonly channels = new Map<string, Channel>();
  readonly turns = new TurnBook<Channel>();
  readonly sounds: SoundLibrary;
  /** Folder of recordings with relative names. */
  readonly recordings: string;
  readonly applications: ApplicationTable;
  readonly apis: ApiTable;
  readonly conferences: ConferenceTable;
  /** Runs programs on this machine, such as a speech synthesizer. */
  readonly run: RunProgram;
  readonly ticker: Ticker;
  /** Name of the SIP profile, and its address as `sofia status` shows it. */
  readonly profileName: string;
  profileAddress = '';

  constructor(parts: {
    readonly identity: Identity;
    readonly sounds: SoundLibrary;
    readonly recordings: string;
    readonly applications: ApplicationTable;
    readonly apis: ApiTable;
    readonly conferences: ConferenceTable;
    readonly profileName: string;
    readonly run: RunProgram;
  }) {
    this.identity = parts.identity;
    this.sounds = parts.sounds;
    this.recordings = parts.recordings;
    this.applications = parts.applications;
    this.apis = parts.apis;
    this.conferences = parts.conferences;
    this.profileName = parts.profileName;
    this.run = parts.run;
    this.ticker = new Ticker({
      tick: (frame, turn) => {
        this.conferences.mix(turn);
        this.turns.run(frame, turn, (channel) => this.#tickChannel(channel));
      },
      wants: (turn) => this.turns.isUsed(turn),
    });
  }

  /** Adds a new channel: it can be looked up, and gets a turn in every frame. */
  enter(channel: Channel): void {
    this.channels.set(channel.uuid, channel);
    this.turns.enter(channel);
  }

  /** A channel has ended. */
  leave(channel: Channel): void {
    this.channels.delete(channel.uuid);
    this.turns.leave(channel);
  }

  /** Handles a channel's frame slot. A defect ends only this call. */
  #tickChannel(channel: Channel): void {
    try {
      channel.tick();
    } catch (error) {
      reportFault(`call ${channel.uuid}`, error);
      channel.hangup('NORMAL_TEMPORARY_FAILURE', 'api');
    }
  }
}
