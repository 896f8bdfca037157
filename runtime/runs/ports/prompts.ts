import type { DomainName } from '../../domain-name/index.ts';

/** Sounds of a run beside the files of the folder `prompts`. */
export interface PromptPort {
  /** The language of runs of a domain, where nothing else names one. */
  language(domain: DomainName): string;
  /**
   * The uploaded prompt of a domain in exactly this language; empty: for every language. The function makes it a WAV file
   * that media servers play.
   *
   * @returns undefined without one; the function throws ScenarioError code `unavailable` while the file store is away
   */
  uploaded(domain: DomainName, name: string, language: string): (() => Promise<string>) | undefined;
  /** True for an uploaded prompt that is certainly there: a simulation assumes prompts that nobody has uploaded. */
  has(domain: DomainName, name: string, language: string): boolean;
  /**
   * A WAV file that media servers play, made of a sound file of any known kind.
   * @throws ScenarioError codes `no_sound`, and `unavailable` when that takes longer than a caller may wait
   */
  playable(file: string, signal: AbortSignal): Promise<string>;
  /**
   * The sound of a URL as a WAV file that media servers play, within the time that a caller may wait.
   * @throws ScenarioError codes `no_sound`, and those of `HttpPort.request`
   */
  fetched(url: string, signal: AbortSignal): Promise<string>;
}
