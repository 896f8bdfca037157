/** Resolves sounds as authors write them. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { PlaySource } from './call-words.ts';
import { parseDuration } from './duration.ts';
import { nearest } from '../words/index.ts';

/** The reason why a sound cannot be played, with a suggestion. */
export interface SoundProblem {
  readonly message: string;
  readonly suggestion?: string;
}

/** Teletone, the language of `tone_stream://`: a setting, or tones and keys one after another. */
const TONE_PART = /^\s*(?:[a-zA-Z>+]+=-?[\d.]+|(?:%\(\s*\d+(?:\s*,\s*\d+(?:\.\d+)?)+\s*\)|[0-9*#A-D]|\s)*)\s*$/;

/** A language tag (BCP 47), e.g. `de` or `de-AT`. */
export const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;

const SPOKEN = /^say(?:\[([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)\])?:(.*)$/s;

/** A sound as an author wrote it: a source, or what has still to be found. */
export type WrittenSound =
  | Exclude<PlaySource, { readonly file: string }>
  /** A sound file of the folder `prompts`, or a prompt of the domain. */
  | { readonly prompt: string }
  | { readonly url: string };

/** Endings of sound files. */
const ENDING = /\.(?:wav|mp3|opus|ogg|flac)$/i;
/** The order in which a name without an ending is looked up. */
const ENDINGS = ['.wav', '.mp3', '.opus', '.ogg', '.flac'];
/** Names of prompts of a domain. */
const DOMAIN_PROMPT = /^(?=.{1,128}$)[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;
const MAX_URL = 2048;

/**
 * Reads a sound as authors write it: `tone:<teletone>`, `silence:<duration>`, `say:<text>` (`say[de]:<text>` in a language),
 * an `https` URL, or the name of a prompt: a file of the folder `prompts`, or without an ending also a prompt of the domain.
 */
export function readSound(text: string): WrittenSound | SoundProblem {
  if (text.startsWith('tone:')) {
    const tone = text.slice('tone:'.length);
    if (tone === '') return { message: 'the tone is empty' };
    return tone.split(';').every((part) => TONE_PART.test(part))
      ? { tone }
      : {
          message: `"${text}" is no tone`,
          suggestion: 'write e.g. tone:%(200,100,800): milliseconds on and off, Hertz',
        };
  }
  if (text.startsWith('silence:')) {
    const silenceMs = parseDuration(text.slice('silence:'.length));
    return silenceMs === undefined
      ? { message: `"${text}" holds no duration`, suggestion: 'write silence:500ms' }
      : { silenceMs };
  }
  if (/^https?:/i.test(text)) {
    return URL.canParse(text) && text.length <= MAX_URL
      ? { url: text }
      : { message: `"${text.slice(0, 80)}" is no URL`, suggestion: 'write e.g. https://media.example.com/welcome.mp3' };
  }
  const [, language, spoken] = SPOKEN.exec(text) ?? [];
  if (spoken === undefined) return readName(text);
  if (spoken.trim() === '') return { message: `"${text}" says nothing`, suggestion: 'write say:Press 1' };
  return { text: spoken.trim(), ...(language === undefined ? {} : { language }) };
}

function readName(name: string): WrittenSound | SoundProblem {
  if (name === '') return { message: 'the sound is empty', suggestion: 'name a prompt, tone:... or silence:...' };
  if (path.isAbsolute(name) || /[\\\0]/.test(name) || name.split('/').includes('..')) {
    return { message: `"${name}" is outside the prompts folder`, suggestion: 'name a file below it' };
  }
  return { prompt: name };
}

/** A language tag in its usual spelling: `DE-at` is `de-AT`; an invalid one as it is. */
export function languageTag(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? tag;
  } catch {
    return tag;
  }
}

/** True for a name that may be one of a prompt of the domain. */
export function namesDomainPrompt(name: string): boolean {
  return DOMAIN_PROMPT.test(name) && !ENDING.test(name);
}

/**
 * The languages in which a prompt is looked up, in order: the language itself, and it without its parts from the end. The
 * last one is empty: the prompt for every language. `de-AT` gives `de-AT`, `de` and the empty one.
 */
export function promptLanguages(language: string): readonly string[] {
  const parts = language.split('-');
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join('-')), ''].filter(
    (each, index, all) => all.indexOf(each) === index,
  );
}

/**
 * The file of a prompt in exactly this language: in the folder of that name, or for the empty one in the folder itself.
 * A name without an ending stands for the file with one.
 *
 * @returns undefined without one; a problem for a file outside the folder, by a symbolic link
 */
export function promptFile(folder: string, name: string, language: string): string | SoundProblem | undefined {
  const root = realPath(folder);
  if (root === undefined) return undefined;
  for (const ending of ENDING.test(name) ? [''] : ENDINGS) {
    const real = realPath(path.join(folder, language, name + ending));
    if (real === undefined) continue;
    if (real.startsWith(root + path.sep)) return real;
    return { message: `"${name}" leads outside the prompts folder`, suggestion: 'name a file below it' };
  }
  return undefined;
}

/** A sound without the domain's prompts and URLs, e.g. of a conference. @throws nothing */
export function resolveSound(text: string, promptsFolder: string): PlaySource | SoundProblem {
  const written = readSound(text);
  if (isSoundProblem(written)) return written;
  if ('url' in written) return { message: `"${text}" is a URL, which is not played here` };
  if (!('prompt' in written)) return written;
  const file = promptFile(promptsFolder, written.prompt, '');
  if (file === undefined) return missing(written.prompt, promptsFolder);
  return typeof file === 'string' ? { file } : file;
}

/** What the checker says of a sound; `warning`: in place of the message, because the prompt may be one of the domain. */
export function soundProblem(
  text: string,
  promptsFolder: string,
): (SoundProblem & { readonly warning?: string }) | undefined {
  const written = readSound(text);
  if (isSoundProblem(written)) return written;
  if (!('prompt' in written)) return undefined;
  const { prompt } = written;
  const found = ['', ...languageFolders(promptsFolder)].map((language) => promptFile(promptsFolder, prompt, language));
  const file = found.find((each) => each !== undefined);
  if (typeof file === 'string') return undefined;
  if (file !== undefined) return file;
  const problem = missing(prompt, promptsFolder);
  if (!namesDomainPrompt(prompt)) return problem;
  const suggestion = problem.suggestion ?? 'upload it to the domain, by POST /domain/prompts';
  return {
    message: problem.message,
    suggestion,
    warning: `${problem.message} in the folder, so the domain must have it`,
  };
}

/** Folders of the folder `prompts` that are named like languages. */
function languageFolders(promptsFolder: string): readonly string[] {
  if (!existsSync(promptsFolder)) return [];
  return readdirSync(promptsFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && LANGUAGE.test(entry.name))
    .map(({ name }) => name);
}

/** Undefined without a file of this name. */
function realPath(file: string): string | undefined {
  try {
    return realpathSync.native(file);
  } catch {
    return undefined;
  }
}

function missing(name: string, promptsFolder: string): SoundProblem {
  const message = `there is no prompt "${name}"`;
  if (!existsSync(promptsFolder))
    return { message, suggestion: `put it into ${path.basename(promptsFolder)}/ beside the scenario` };
  const prompts = readdirSync(promptsFolder, { recursive: true, encoding: 'utf8' }).filter((file) => ENDING.test(file));
  const found = nearest(name, prompts);
  return found === undefined ? { message } : { message, suggestion: `did you mean "${found}"?` };
}

export function isSoundProblem(sound: PlaySource | WrittenSound | SoundProblem): sound is SoundProblem {
  return 'message' in sound;
}
