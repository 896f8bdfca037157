import type { DomainName } from '../../domain-name/index.ts';

/** Speech recognition of one leg of a live call. */
export interface SpeechLayer {
  readonly domain: DomainName;
  readonly dialogid: string;
  /** Call-ID of the leg. */
  readonly callid: string;
  readonly layer: string;
  /** BCP 47 tag; undefined: the node's. */
  readonly language: string | undefined;
}

/** A change of the speech recognition of a live call. */
export type SpeechChange =
  | { readonly command: 'add'; readonly callid: string }
  | { readonly command: 'remove'; readonly layer: string };

/**
 * Speech recognition of live calls (specification, "SETUP_ASR"). Each method rejects with a ScenarioError:
 * `dialog_not_found`, or `not_applicable` with the field and the reason.
 */
export interface CallSpeechPort {
  /** Starts recognition; results are events of the class `asrevents`. */
  addLayer(layer: SpeechLayer): Promise<void>;
  /**
   * @param wait waits some seconds for the last words
   * @returns the whole recognised text
   */
  removeLayer(domain: DomainName, dialogid: string, layer: string, wait: boolean): Promise<string>;
  /** Throws the error of a refused change, without making the change. */
  check(domain: DomainName, dialogid: string, change: SpeechChange): void;
}
