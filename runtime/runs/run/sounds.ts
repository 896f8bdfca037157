/** Finds the sounds of a run. */
import {
  isSoundProblem,
  namesDomainPrompt,
  type PlaySource,
  promptFile,
  promptLanguages,
  readSound,
  ScenarioError,
} from '../../language/index.ts';
import { RECORDING } from '../ports/recording.ts';
import { MESSAGE } from '../ports/voicemail.ts';
import type { RunState } from './run-state.ts';

/**
 * Sounds as their author wrote them, ready to be played. All are looked up at once: the caller waits for the slowest one.
 *
 * @throws ScenarioError codes `no_such_prompt`, `no_such_recording`, `no_sound`, `unavailable`, and those of HTTP requests
 */
export async function openSounds(
  state: RunState,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly PlaySource[]> {
  return Promise.all(texts.map((text) => openSound(state, text, signal)));
}

async function openSound(state: RunState, text: string, signal: AbortSignal): Promise<PlaySource> {
  const { services, domain } = state;
  if (text.startsWith(RECORDING)) {
    const name = text.slice(RECORDING.length);
    const file = services.recordings.find(domain, name);
    if (file === undefined) throw new ScenarioError('no_such_recording', `there is no recording "${name}"`);
    return { file };
  }
  if (text.startsWith(MESSAGE)) {
    const file = await services.voicemail.sound(domain, text.slice(MESSAGE.length));
    if (file === undefined) throw new ScenarioError('no_such_recording', `there is no voice message "${text}"`);
    return { file };
  }
  const written = readSound(text);
  if (isSoundProblem(written)) throw new ScenarioError('no_such_prompt', written.message);
  if ('url' in written) return { file: await services.prompts.fetched(written.url, signal), name: text };
  if ('prompt' in written) return { file: await openPrompt(state, written.prompt, signal), name: text };
  return 'text' in written ? { language: state.language, ...written } : written;
}

/** The first one in the order of the languages; in a language, a prompt of the domain before a file. */
async function openPrompt(state: RunState, name: string, signal: AbortSignal): Promise<string> {
  const file = await findPrompt(state, name, signal);
  if (file !== undefined) return file;
  const place = namesDomainPrompt(name) ? 'the domain and the folder prompts have' : 'the folder prompts has';
  throw new ScenarioError('no_such_prompt', `${place} no prompt "${name}" for the language ${state.language}`);
}

/**
 * The prompts of these names in the language of the run, for parts of a phrase.
 * @returns undefined unless all are there
 * @throws ScenarioError as `openSounds`
 */
export async function openRecorded(
  state: RunState,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly PlaySource[] | undefined> {
  const { program, services, domain, language } = state;
  const languages = promptLanguages(language);
  const isThere = (name: string): boolean =>
    languages.some(
      (each) =>
        services.prompts.has(domain, name, each) || typeof promptFile(program.promptsFolder, name, each) === 'string',
    );
  return names.every(isThere) ? openSounds(state, names, signal) : undefined;
}

/** Undefined without a prompt of this name. @throws ScenarioError */
async function findPrompt(
  { program, services, domain, language }: RunState,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { prompts } = services;
  for (const each of promptLanguages(language)) {
    const uploaded = namesDomainPrompt(name) ? prompts.uploaded(domain, name, each) : undefined;
    if (uploaded !== undefined) return uploaded();
    const file = promptFile(program.promptsFolder, name, each);
    if (typeof file === 'string') return prompts.playable(file, signal);
    if (file !== undefined) throw new ScenarioError('no_such_prompt', file.message);
  }
  return undefined;
}
