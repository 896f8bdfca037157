/** Prompts of a simulation: every prompt that no file holds is one of the domain, and every URL has a sound. */
import type { PromptPort } from '../../runs/index.ts';

/** The language of a simulation where the scenario names none. */
const LANGUAGE = 'en';

export class SimulatedPrompts implements PromptPort {
  language(): string {
    return LANGUAGE;
  }

  uploaded(_domain: string, name: string, language: string): (() => Promise<string>) | undefined {
    // Files of every language come first, so that tests show which one is played.
    return language === '' ? () => Promise.resolve(name) : undefined;
  }

  has(): boolean {
    return false;
  }

  playable(file: string): Promise<string> {
    return Promise.resolve(file);
  }

  fetched(url: string): Promise<string> {
    return Promise.resolve(url);
  }
}
