/** What rooms need of the rest of the node. */
import type { ConferenceMix, EndpointServer } from '../media/index.ts';

export type ConferenceEventType =
  | 'conf_start'
  | 'conf_join'
  | 'conf_leave'
  | 'conf_state'
  | 'conf_talking'
  | 'conf_muted'
  | 'conf_topology'
  | 'conf_recording'
  | 'conf_end';

export type ConferenceEventData = Readonly<Record<string, string | boolean | readonly TopologyData[]>>;
type TopologyData = Readonly<Record<'from' | 'to', string> & { enabled: boolean }>;

/** Who is told what happens in conferences. */
export interface ConferenceEvents {
  emit(domain: string, type: ConferenceEventType, data: ConferenceEventData): void;
}

/** Who counts what happens in conferences. */
export interface ConferenceObserver {
  /** `conf_leave` only of somebody who had joined. */
  happened(event: 'conf_start' | 'conf_join' | 'conf_leave' | 'conf_end'): void;
  /**
   * Topology commands were carried out.
   * @param seconds from the request to the media server having done them
   */
  commanded(commands: number, seconds: number): void;
}

/** Somebody who took part in a recorded conference. */
export interface RoomParty {
  readonly number: string;
  /** Empty for somebody without an account. */
  readonly login: string;
  readonly domain: string;
  readonly uri: string;
}

export interface Log {
  error(details: object, message: string): void;
}

export interface ConferenceServices {
  readonly events: ConferenceEvents;
  readonly observer: ConferenceObserver;
  /** Name of the site that serves the conferences. */
  readonly site: string;
  readonly log: Log;
  /**
   * A conference on a media server.
   * @param on where the first participant's sound is, when he has any yet
   * @throws MediaError when there is no media server
   */
  mix(name: string, on: EndpointServer | undefined): ConferenceMix;
  /** A sound as scenario authors write it (`welcome.wav`, `tone:...`), in the media server's notation. */
  sound(text: string): string;
  /**
   * Records the call of one participant into the archive.
   * @param layer name of the recording
   * @returns ends it
   */
  recordVoice(call: {
    readonly domain: string;
    readonly dialogid: string;
    readonly layer: string;
  }): Promise<() => Promise<void>>;
  /**
   * Records a whole conference into the archive.
   * @param record has the media server write to a file; tells when the file is complete
   * @throws MediaError
   */
  recordRoom(
    conference: { readonly domain: string; readonly confid: string },
    record: (file: string) => Promise<{ readonly completed: Promise<unknown> }>,
  ): Promise<{
    /** Id of the recording in the archive. */
    readonly id: string;
    /** The conference is over. @param parties everybody who took part */
    finish(parties: readonly RoomParty[]): void;
  }>;
}
