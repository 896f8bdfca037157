/** The recordings of a conference. */
import type { Rate } from '../audio/format.ts';
import { recordingPath } from '../recording/paths.ts';
import { ConferenceRecording } from './conference-recording.ts';
import type { ConferenceEvents } from './member.ts';

/** The part of a conference that its recordings use. */
export interface RecordedConference extends ConferenceEvents {
  /** True once its last member has left. */
  readonly ended: boolean;
  /** Samples a second of the mix. */
  readonly rate: Rate;
  /** The next member id, for a recording. */
  nextMemberId(): number;
}

/** The recordings of one conference: each begins with `start-recording` and ends with `stop-recording`. */
export class Recordings {
  readonly #folder: string;
  readonly #conference: RecordedConference;
  /** Running recordings, and those whose files are being completed. */
  readonly #all = new Set<ConferenceRecording>();

  /** @param folder folder of recordings with relative names */
  constructor(folder: string, conference: RecordedConference) {
    this.#folder = folder;
    this.#conference = conference;
  }

  /** Running recordings. */
  get running(): ConferenceRecording[] {
    return [...this.#all].filter((each) => each.running);
  }

  get(name: string): ConferenceRecording | undefined {
    return this.running.find((each) => each.name === name);
  }

  /** True until the file of the last recording is complete. */
  get any(): boolean {
    return this.#all.size > 0;
  }

  /** Whether a file is being recorded to. */
  uses(name: string): boolean {
    return [...this.#all].some((each) => each.name === name);
  }

  /** Starts a recording. The event `start-recording` reports whether the file can be written. */
  start(name: string): void {
    const conference = this.#conference;
    const recording = new ConferenceRecording(name, () => recordingPath(this.#folder, name), conference.rate);
    this.#all.add(recording);
    recording.opened().then(
      () => {
        conference.nextMemberId();
        conference.publish('start-recording', undefined, { Path: name });
        // The conference may have ended while the file was being opened.
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

  /** Stops one recording, or `all`. Returns the names; the event `stop-recording` follows with each complete file. */
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
