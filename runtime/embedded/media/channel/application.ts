/** Applications on a channel: what the channel calls, and what they return. */
import type { Channel } from './channel.ts';

/** Application-Response of an application without a result. */
export const NO_RESPONSE = '_none_';

/** Source of a digit: telephone-event (RFC 4733), SIP INFO, the command `uuid_recv_dtmf`, or tones in the sound. */
export type DigitSource = 'RTP' | 'ENDPOINT' | 'APP' | 'INBAND_AUDIO';

/**
 * An application that runs on its channel for some time. Only the one on top of the channel's stack is called, once a
 * frame. An application started by a later command is put on top, and finishes first.
 */
export interface RunningApplication {
  /** Application-Response of CHANNEL_EXECUTE_COMPLETE. */
  readonly response: string;
  /** True while queued commands have to wait, if need be until the application ends. */
  readonly ignoresCommands?: boolean;
  /** True when its end publishes no CHANNEL_EXECUTE_COMPLETE. */
  readonly endsSilently?: boolean;
  /** Handles one frame slot, writing at most one frame; true when the application is done. */
  tick(): boolean;
  /** Takes a digit of the far end, with its source and its duration in timestamp units (1/8 ms). */
  digit?(digit: string, source: DigitSource, duration: number): void;
  /** `uuid_break`. */
  break?(): void;
  /** `uuid_fileman pause`: pauses or resumes the current file; false when no file is playing. */
  pause?(): boolean;
  /** Another application was put on top. */
  suspend?(): void;
  /** The application on top has finished. */
  resume?(): void;
  /** Called once when the application leaves the stack for any reason. */
  end?(): void;
}

/** Result of starting an application: the running application, or the response of one that is already done. */
export type StartResult = RunningApplication | string;

/** Starts an application on a channel. */
export type ApplicationStart = (channel: Channel, data: string) => StartResult;

/** The applications of the server, by name. */
export type ApplicationTable = ReadonlyMap<string, ApplicationStart>;
