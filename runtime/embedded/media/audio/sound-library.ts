/** Opens sounds by name. */
import { readFile, stat } from 'node:fs/promises';
import { resampleInPieces } from '../../../samples/index.ts';
import { pathInside } from '../core/inside.ts';
import { frameSamples, type Rate } from './format.ts';
import { makeHoldMusic } from './hold-music.ts';
import { type AudioSource, ClipSource, GeneratedSource } from './source.ts';
import { parseToneScript, ToneGenerator, ToneScriptError } from './teletone.ts';
import { readWavSound, WavError } from './wav.ts';

/** Size of the cache of decoded sounds in samples: 16 MiB. */
const CACHE_SAMPLES = 8 * 1_048_576;

/** Largest file: four and a half hours of 8 kHz PCM. */
const MAX_FILE_BYTES = 256 * 1_048_576;

/** Names of the only stream, in `freeswitch-config/` and in stock configurations. */
const HOLD_MUSIC_NAMES = /^(?:moh|default)(?:\/(?:8000|16000))?$/;

/** A sound cannot be played: it is missing, unreadable or of an unsupported kind. */
export class SoundNotFoundError extends Error {
  override readonly name = 'SoundNotFoundError';
  readonly path: string;
  constructor(path: string, why: string) {
    super(`cannot play ${path}: ${why}`);
    this.path = path;
  }
}

interface CachedSound {
  readonly samples: Int16Array;
  readonly modified: number;
  readonly size: number;
}

/** Opens the sounds of `playback`: `tone_stream://`, `silence_stream://`, `local_stream://`, or a WAV file. */
export class SoundLibrary {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #cache = new Map<string, CachedSound>();
  readonly #holdMusic = new Map<Rate, Int16Array>();
  #cachedSamples = 0;

  /**
   * @param directory folder of relative names
   * @param now returns the number of the current frame: the common position of all listeners of the hold music
   */
  constructor(directory: string, now: () => number) {
    this.#directory = directory;
    this.#now = now;
  }

  /**
   * Opens a sound.
   *
   * @param name argument of `playback`; `@@<sample>` at its end sets the first sample
   * @param rate samples a second
   * @throws SoundNotFoundError
   */
  async open(name: string, rate: Rate): Promise<AudioSource> {
    const { path, offset } = splitOffset(name);
    return this.#openStream(path, rate) ?? new ClipSource(await this.#load(path, rate), offset, rate);
  }

  /** The path of a sound in events: the full path of a file, the name of a stream. */
  shownPath(name: string): string {
    const { path } = splitOffset(name);
    return path.includes('://') ? path : (pathInside(this.#directory, path) ?? path);
  }

  /** Opens a stream; returns undefined for a file. */
  #openStream(path: string, rate: Rate): AudioSource | undefined {
    const scheme = /^([a-z_]+):\/\/(.*)$/s.exec(path);
    if (scheme === null) return undefined;
    const argument = scheme[2] as string;
    switch (scheme[1] as string) {
      case 'tone_stream':
        return openTones(path, argument, rate);
      case 'silence_stream':
        return openSilence(path, argument, rate);
      case 'local_stream':
        if (!HOLD_MUSIC_NAMES.test(argument)) throw new SoundNotFoundError(path, 'no such stream');
        return this.openHoldMusic(rate);
      default:
        throw new SoundNotFoundError(path, `no such stream: ${scheme[1]}`);
    }
  }

  /** Opens the endless hold music at its common position. */
  openHoldMusic(rate: Rate): AudioSource {
    const music = this.#holdMusic.get(rate) ?? makeHoldMusic(rate);
    this.#holdMusic.set(rate, music);
    let position = (this.#now() * frameSamples(rate)) % music.length;
    return new GeneratedSource('local_stream', rate, (target) => {
      for (let index = 0; index < target.length; index += 1) {
        target[index] = music[position] as number;
        position = position + 1 === music.length ? 0 : position + 1;
      }
      return target.length;
    });
  }

  async #load(path: string, rate: Rate): Promise<Int16Array> {
    const file = pathInside(this.#directory, path);
    if (file === undefined) throw new SoundNotFoundError(path, 'the path is outside of the folder of sounds');
    try {
      const about = await stat(file);
      // Reading a device or a pipe might never end.
      if (!about.isFile()) throw new SoundNotFoundError(file, 'it is not a regular file');
      const { mtimeMs, size } = about;
      if (size > MAX_FILE_BYTES) throw new SoundNotFoundError(file, 'it is larger than 256 MiB');
      const key = `${rate} ${file}`;
      const cached = this.#cache.get(key);
      if (cached !== undefined && cached.modified === mtimeMs && cached.size === size) {
        // Moved to the end: the least recently used one is dropped first.
        this.#cache.delete(key);
        this.#cache.set(key, cached);
        return cached.samples;
      }
      const sound = readWavSound(await readFile(file));
      const samples = await resampleInPieces(sound.samples, sound.rate, rate);
      this.#remember(key, { samples, modified: mtimeMs, size });
      return samples;
    } catch (error) {
      if (error instanceof SoundNotFoundError) throw error;
      if (error instanceof WavError) throw new SoundNotFoundError(file, error.message);
      const code = (error as NodeJS.ErrnoException).code;
      if (code === undefined) throw error;
      throw new SoundNotFoundError(file, code);
    }
  }

  #remember(key: string, sound: CachedSound): void {
    this.#forget(key);
    if (sound.samples.length > CACHE_SAMPLES / 4) return;
    this.#cache.set(key, sound);
    this.#cachedSamples += sound.samples.length;
    for (const oldest of this.#cache.keys()) {
      if (this.#cachedSamples <= CACHE_SAMPLES) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const sound = this.#cache.get(key);
    if (sound === undefined) return;
    this.#cache.delete(key);
    this.#cachedSamples -= sound.samples.length;
  }
}

function splitOffset(name: string): { path: string; offset: number } {
  const match = /^(.*)@@(\d{1,12})$/s.exec(name.trim());
  return match === null ? { path: name.trim(), offset: 0 } : { path: match[1] as string, offset: Number(match[2]) };
}

function openTones(path: string, script: string, rate: Rate): AudioSource {
  try {
    const generator = new ToneGenerator(parseToneScript(script), rate);
    return new GeneratedSource(
      'tone_stream',
      rate,
      (target) => generator.read(target),
      () => generator.exhausted,
    );
  } catch (error) {
    if (error instanceof ToneScriptError) throw new SoundNotFoundError(path, error.message);
    throw error;
  }
}

/** `silence_stream://<ms>`; -1 is for ever; a second number, the level of comfort noise, is not needed. */
function openSilence(path: string, argument: string, rate: Rate): AudioSource {
  const match = /^(-1|\d{1,9})(?:,-?\d+)?$/.exec(argument.trim());
  if (match === null) throw new SoundNotFoundError(path, 'expected milliseconds, or -1 for ever');
  let left = match[1] === '-1' ? Number.POSITIVE_INFINITY : Math.round((Number(match[1]) * rate) / 1000);
  const read = (target: Int16Array): number => {
    const count = Math.min(target.length, left);
    target.fill(0, 0, count);
    left -= count;
    return count;
  };
  return new GeneratedSource(undefined, rate, read, () => left === 0);
}
