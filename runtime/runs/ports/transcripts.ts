import type { DomainName } from '../../domain-name/index.ts';

/** The source of a transcript: a recorded call by its `reclink`, or a WAV file of the node. */
export type TranscriptSource = { readonly reclink: string } | { readonly file: string };

export interface TranscribeOptions {
  readonly domain: DomainName;
  readonly language: string | undefined;
  readonly hints: readonly string[];
  readonly signal: AbortSignal;
}

export interface TranscriptChannel {
  /** 0 is left. */
  readonly channel: number;
  readonly text: string;
}

export interface TranscriptPort {
  /**
   * Queues the transcription of a recorded call; the event `ccsevents.connection_set_asr` announces its end.
   * @throws ScenarioError `recording_not_found`; `not_applicable` without an engine
   */
  request(domain: DomainName, idconn: string, reclink: string): Promise<void>;
  /** Throws the error of a refused `request`, without queueing anything. */
  checkRequest(domain: DomainName, idconn: string, reclink: string): Promise<void>;
  /**
   * Transcribes at once and returns the text.
   * @throws ScenarioError `recording_not_found`, `unavailable`, `speech_failed`; the signal's reason
   */
  transcribe(source: TranscriptSource, options: TranscribeOptions): Promise<readonly TranscriptChannel[]>;
}
