/** Interfaces that rooms need from the rest of the node. */
import type { FarewellIndex } from '../callstore/index.ts';
import type { DomainName } from '../domain-name/index.ts';
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

/** Publishes events of conferences. */
export interface ConferenceEvents {
  /** @param users ids of the users who take part */
  emit(domain: DomainName, type: ConferenceEventType, data: ConferenceEventData, users: readonly string[]): void;
}

/** Counts events of conferences. */
export interface ConferenceObserver {
  /** `conf_leave` only for parties that had joined. */
  happened(event: 'conf_start' | 'conf_join' | 'conf_leave' | 'conf_end'): void;
  /**
   * Topology commands were executed.
   * @param seconds from the request until the media server had executed them
   */
  commanded(commands: number, seconds: number): void;
}

/** A participant of a recorded conference. */
export interface RoomParty {
  readonly number: string;
  /** Empty without an account. */
  readonly login: string;
  /** The host of `uri`. */
  readonly domain: string;
  readonly uri: string;
}

export interface Log {
  error(details: object, message: string): void;
}

export interface ConferenceServices {
  readonly events: ConferenceEvents;
  /** Keeps the ends of conferences for other nodes. */
  readonly farewells?: FarewellIndex | undefined;
  readonly observer: ConferenceObserver;
  /** Name of the site that serves the conferences. */
  readonly site: string;
  readonly log: Log;
  /** Called after the end of each room. @param number to dial */
  over?(domain: DomainName, number: string): void;
  /**
   * Creates a conference on a media server.
   * @param on the media server of the first participant's endpoint, if any
   * @throws MediaError when there is no media server
   */
  mix(name: string, on: EndpointServer | undefined): ConferenceMix;
  /** Translates a sound in scenario notation (`welcome.wav`, `tone:...`) to the media server's notation. */
  sound(text: string): string | Promise<string>;
  /**
   * Records the call of one participant into the archive.
   * @param layer name of the recording
   * @returns the function that ends it
   */
  recordVoice(call: {
    readonly domain: DomainName;
    readonly dialogid: string;
    readonly layer: string;
  }): Promise<() => Promise<void>>;
  /**
   * Records a whole conference into the archive.
   * @param record lets the media server write to a file; resolves when the file is complete
   * @throws MediaError
   */
  recordRoom(
    conference: { readonly domain: DomainName; readonly confid: string },
    record: (file: string) => Promise<{ readonly completed: Promise<unknown> }>,
  ): Promise<{
    /** Id of the recording in the archive. */
    readonly id: string;
    /** The conference has ended. @param parties all participants */
    finish(parties: readonly RoomParty[]): void;
  }>;
}
