/** What is transcribed: a recorded call by its `reclink`, or a WAV file of the node. */
export type TranscriptSource = { readonly reclink: string } | { readonly file: string };

export interface TranscribeOptions {
  readonly domain: string;
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
   * Queues the transcription of a recorded call; `ccsevents.connection_set_asr` tells when it is done.
   * @throws ScenarioError `recording_not_found`; `not_applicable` where there is no engine
   */
  request(domain: string, idconn: string, reclink: string): Promise<void>;
  /** Throws what `request` would be refused with; nothing is queued. */
  checkRequest(domain: string, idconn: string, reclink: string): Promise<void>;
  /**
   * Transcribes at once, and gives the text.
   * @throws ScenarioError `recording_not_found`, `unavailable`, `speech_failed`; the signal's reason
   */
  transcribe(source: TranscriptSource, options: TranscribeOptions): Promise<readonly TranscriptChannel[]>;
}
