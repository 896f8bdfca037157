import type { Channel } from './channel.ts';

/** What a finished application without a result of its own reports as Application-Response. */
export const NO_RESPONSE = '_none_';

/** How a digit came: RFC 4733 telephone-event, or SIP INFO. */
export type DigitSource = 'RTP' | 'ENDPOINT' | 'APP';

/**
 * An application that occupies its channel for a while. The one on top of a channel's stack is called once a frame;
 * one that was started by a command in the meantime lies on top of it and is finished first.
 */
export interface RunningApplication {
  /** Application-Response of CHANNEL_EXECUTE_COMPLETE. */
  readonly response: string;
  /** True while queued commands are not read: they wait, for ever if the application never ends. */
  readonly ignoresCommands?: boolean;
  /** True when leaving the stack gives no CHANNEL_EXECUTE_COMPLETE. */
  readonly endsSilently?: boolean;
  /** Handles one frame slot, writing at most one frame; true when the application is done. */
  tick(): boolean;
  /** A digit of the far end, how it came, and its duration in timestamp units (1/8 ms). */
  digit?(digit: string, source: DigitSource, duration: number): void;
  /** `uuid_break`. */
  break?(): void;
  /** `uuid_fileman pause`: halts the file that it plays, or goes on with it; false when it plays none. */
  pause?(): boolean;
  /** Another application is put on top. */
  suspend?(): void;
  /** It has finished. */
  resume?(): void;
  /** Called once when the application leaves the stack, however that comes. */
  end?(): void;
}

/** What starting an application gives: a running one, or its response when it was done at once. */
export type StartResult = RunningApplication | string;

/** Starts an application on a channel. */
export type ApplicationStart = (channel: Channel, data: string) => StartResult;

/** The applications of the server, by name. */
export type ApplicationTable = ReadonlyMap<string, ApplicationStart>;
