import { recordingPath } from '../recording/paths.ts';
import { ConferenceRecording } from './conference-recording.ts';
import type { ConferenceEvents } from './member.ts';

/** What the recordings of a conference need of it. */
export interface RecordedConference extends ConferenceEvents {
  /** True once its last member has left. */
  readonly ended: boolean;
  /** A recording takes the id of a member. */
  nextMemberId(): number;
}

/** The recordings of one conference: each begins with `start-recording` and ends with `stop-recording`. */
export class Recordings {
  readonly #folder: string;
  readonly #conference: RecordedConference;
  /** Those under way, and those whose files are being completed. */
  readonly #all = new Set<ConferenceRecording>();

  /** @param folder directory of recordings with relative names */
  constructor(folder: string, conference: RecordedConference) {
    this.#folder = folder;
    this.#conference = conference;
  }

  /** Recordings under way. */
  get running(): ConferenceRecording[] {
    return [...this.#all].filter((each) => each.running);
  }

  get(name: string): ConferenceRecording | undefined {
    return this.running.find((each) => each.name === name);
  }

  /** True until the file of the last one is complete. */
  get any(): boolean {
    return this.#all.size > 0;
  }

  /** Whether a file is written to. */
  uses(name: string): boolean {
    return [...this.#all].some((each) => each.name === name);
  }

  /** Begins one; whether the file can be written is told by the event. */
  start(name: string): void {
    const conference = this.#conference;
    const recording = new ConferenceRecording(name, () => recordingPath(this.#folder, name));
    this.#all.add(recording);
    recording.opened().then(
      () => {
        conference.nextMemberId();
        conference.publish('start-recording', undefined, { Path: name });
        // The conference may have ended while the file was opened.
        if (conference.ended) void this.#stop(recording);
      },
      () => {
        conference.publish('start-recording', undefined, {
          Path: name,
          Error: 'File could not be opened for recording',
        });
        void this.#stop(recording);
      },
    );
  }

  /** Stops the one of that name, or `all`. Returns the names; `stop-recording` follows when a file is complete. */
  stop(name: string): string[] {
    const stopped = this.running.filter((each) => name === 'all' || each.name === name);
    for (const recording of stopped) void this.#stop(recording);
    return stopped.map((each) => each.name);
  }

  /** Stops all; resolves when the last file is complete. */
  async end(): Promise<void> {
    await Promise.all(this.running.map((each) => this.#stop(each)));
  }

  write(sum: Int32Array): void {
    for (const recording of this.#all) recording.write(sum);
  }

  async #stop(recording: ConferenceRecording): Promise<void> {
    const figures = await recording.close();
    this.#all.delete(recording);
    const other = { Path: recording.name, 'Other-Recordings': String(this.any) };
    this.#conference.publish('stop-recording', undefined, { ...other, ...figures });
  }
}
