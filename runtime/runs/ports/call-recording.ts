import type { DomainName } from '../../domain-name/index.ts';

/** A recording layer of a live call. */
export interface RecordLayer {
  readonly domain: DomainName;
  readonly dialogid: string;
  /** Call-ID of the only recorded leg; undefined: both are recorded. */
  readonly callid: string | undefined;
  readonly layer: string;
  readonly timeoutMs: number;
}

/** A change of the recordings of a live call. */
export type RecordingChange =
  | { readonly command: 'pause' | 'resume' }
  | { readonly command: 'add'; readonly callid: string | undefined }
  | { readonly command: 'remove'; readonly layer: string };

/**
 * Recording of live calls (specification, "SETUP_RECORD"). Each method rejects with a ScenarioError: `dialog_not_found`,
 * or `not_applicable` with the field and the reason.
 */
export interface CallRecordingPort {
  /** Records silence from now on in the domain's main recording. */
  pause(domain: DomainName, dialogid: string): Promise<void>;
  resume(domain: DomainName, dialogid: string): Promise<void>;
  addLayer(layer: RecordLayer): Promise<void>;
  removeLayer(domain: DomainName, dialogid: string, layer: string): Promise<void>;
  /** Throws the error of a refused change, without making the change. */
  check(domain: DomainName, dialogid: string, change: RecordingChange): void;
}
