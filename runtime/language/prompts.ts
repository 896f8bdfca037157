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

const SPOKEN = /^say(?:\[([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)\])?:(.*)$/s;

/**
 * A sound as authors write it: `tone:<teletone>`, `silence:<duration>`, `say:<text>` (`say[de]:<text>` in a language), or a WAV
 * file relative to the prompts folder.
 * A file outside the folder, by `..`, an absolute name or a symbolic link, is refused.
 */
export function resolveSound(text: string, promptsFolder: string): PlaySource | SoundProblem {
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
  const [, language, spoken] = SPOKEN.exec(text) ?? [];
  if (spoken === undefined) return resolvePrompt(text, promptsFolder);
  if (spoken.trim() === '') return { message: `"${text}" says nothing`, suggestion: 'write say:Press 1' };
  return { text: spoken.trim(), ...(language === undefined ? {} : { language }) };
}

function resolvePrompt(name: string, promptsFolder: string): PlaySource | SoundProblem {
  if (name === '') return { message: 'the sound is empty', suggestion: 'name a prompt, tone:... or silence:...' };
  if (path.isAbsolute(name) || /[\\\0]/.test(name) || name.split('/').includes('..')) {
    return { message: `"${name}" is outside the prompts folder`, suggestion: 'name a file below it' };
  }
  const file = path.resolve(promptsFolder, name);
  const real = realPath(file);
  const folder = realPath(promptsFolder);
  if (real === undefined || folder === undefined) return missing(name, promptsFolder);
  if (!real.startsWith(folder + path.sep)) {
    return { message: `"${name}" leads outside the prompts folder`, suggestion: 'name a file below it' };
  }
  return { file: real };
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
  const prompts = readdirSync(promptsFolder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.wav'),
  );
  const found = nearest(name, prompts);
  return found === undefined ? { message } : { message, suggestion: `did you mean "${found}"?` };
}

export function isSoundProblem(sound: PlaySource | SoundProblem): sound is SoundProblem {
  return 'message' in sound;
}
