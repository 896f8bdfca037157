/** Tone scripts (`tone_stream://`). */
import { type Rate, SAMPLE_RATE } from './format.ts';

/** A tone script is invalid; the message shows the invalid part. */
export class ToneScriptError extends Error {
  override readonly name = 'ToneScriptError';
  readonly found: string;
  constructor(found: string, expected: string) {
    super(`tone script: expected ${expected}, found ${JSON.stringify(found)}`);
    this.found = found;
  }
}

/** One tone of a script: frequencies sounding together, then silence. */
export interface Tone {
  readonly onMs: number;
  readonly offMs: number;
  readonly frequencies: readonly number[];
  /** Level of each frequency in dBm0. */
  readonly decibels: number;
}

/** A parsed script: the tones of one round, and the number of rounds (-1: endless). */
export interface ToneScript {
  readonly tones: readonly Tone[];
  readonly loops: number;
}

const DEFAULT_DECIBELS = -7;

/** Full scale of teletone: the level of a sine at the limit of mu-law, and its amplitude. */
const FULL_SCALE_DBM0 = 3.14 + 3.02;
const FULL_SCALE_SINE = 32_767 * Math.SQRT2;
const DEFAULT_DURATION_MS = 250;
const MAX_TONE_MS = 3_600_000;
const MAX_TONES = 1000;

/** Low and high frequency of each DTMF key (ITU-T Q.23). */
// biome-ignore format: laid out as the keypad
const KEYS: Readonly<Record<string, readonly [number, number]>> = {
  1: [697, 1209], 2: [697, 1336], 3: [697, 1477], A: [697, 1633],
  4: [770, 1209], 5: [770, 1336], 6: [770, 1477], B: [770, 1633],
  7: [852, 1209], 8: [852, 1336], 9: [852, 1477], C: [852, 1633],
  '*': [941, 1209], 0: [941, 1336], '#': [941, 1477], D: [941, 1633],
};

/**
 * Parses the teletone language of `tone_stream://`: `%(on,off,f1,f2,...)`, DTMF keys, and the settings `v=` (dB),
 * `d=` and `w=` (milliseconds on and off of keys), `l=` (rounds within the script), `loops=` after a semicolon.
 *
 * @throws ToneScriptError with the first invalid part
 */
export function parseToneScript(text: string): ToneScript {
  const parts = text.split(';').map((part) => part.trim());
  const tones: Tone[] = [];
  let loops = 1;
  let rounds = 1;
  let decibels = DEFAULT_DECIBELS;
  let onMs = DEFAULT_DURATION_MS;
  let offMs = 0;
  for (const part of parts) {
    if (part === '') continue;
    const setting = /^(loops|[vdwlLr>+])\s*=\s*(-?\d+(?:\.\d+)?)$/.exec(part);
    if (setting !== null) {
      const value = Number(setting[2]);
      if (setting[1] === 'loops') loops = Math.trunc(value);
      else if (setting[1] === 'v') decibels = Math.min(0, value);
      else if (setting[1] === 'd') onMs = duration(part, value);
      else if (setting[1] === 'w') offMs = duration(part, value);
      else if (setting[1] === 'l' || setting[1] === 'L') rounds = Math.max(1, Math.trunc(value));
      continue;
    }
    tones.push(...parseTones(part, onMs, offMs, decibels));
    if (tones.length > MAX_TONES) throw new ToneScriptError(`${tones.length} tones`, `at most ${MAX_TONES}`);
  }
  if (tones.length === 0) throw new ToneScriptError(text, 'at least one %(on,off,frequency) or DTMF key');
  if (rounds * tones.length > MAX_TONES) throw new ToneScriptError(`${rounds} rounds`, `at most ${MAX_TONES} tones`);
  return { tones: Array.from({ length: rounds }, () => tones).flat(), loops: loops === 0 ? 1 : loops };
}

function parseTones(part: string, onMs: number, offMs: number, decibels: number): Tone[] {
  const tones: Tone[] = [];
  const pattern = /%\(([^()]*)\)|([0-9A-D*#])|(\s+)/y;
  while (pattern.lastIndex < part.length) {
    const start = pattern.lastIndex;
    const match = pattern.exec(part);
    if (match === null) throw new ToneScriptError(part.slice(start), '%(on,off,frequency,...) or a DTMF key');
    if (match[1] !== undefined) tones.push(parseTone(match[1], decibels));
    else if (match[2] !== undefined) tones.push({ onMs, offMs, frequencies: KEYS[match[2]] ?? [], decibels });
  }
  return tones;
}

function parseTone(list: string, decibels: number): Tone {
  const numbers = list.split(',').map((item) => (item.trim() === '' ? Number.NaN : Number(item)));
  const [onMs, offMs, ...frequencies] = numbers;
  if (onMs === undefined || offMs === undefined || numbers.some((value) => !Number.isFinite(value) || value < 0)) {
    throw new ToneScriptError(list, 'numbers: on,off,frequency,...');
  }
  if (frequencies.length > 16) throw new ToneScriptError(list, 'at most 16 frequencies');
  return { onMs: duration(list, onMs), offMs: duration(list, offMs), frequencies, decibels };
}

function duration(found: string, value: number): number {
  if (value < 0 || value > MAX_TONE_MS) throw new ToneScriptError(found, `0 to ${MAX_TONE_MS} ms`);
  return value;
}

/** Generates the samples of a tone script; phases continue across frames. */
export class ToneGenerator {
  readonly #tones: readonly Tone[];
  readonly #rate: Rate;
  #loopsLeft: number;
  #index = 0;
  #position = 0;

  /** @param rate samples a second */
  constructor(script: ToneScript, rate: Rate = SAMPLE_RATE) {
    this.#tones = script.tones;
    this.#rate = rate;
    this.#loopsLeft = script.loops < 0 ? Number.POSITIVE_INFINITY : script.loops;
    // With a round of length zero read() would never return.
    if (script.tones.every((tone) => toneSamples(tone, rate) === 0)) this.#loopsLeft = 0;
  }

  /** True when everything has been read. */
  get exhausted(): boolean {
    return this.#loopsLeft <= 0;
  }

  /** Writes the next samples to `target`; returns their number, 0 at the end. */
  read(target: Int16Array): number {
    let written = 0;
    while (written < target.length && this.#loopsLeft > 0) {
      const tone = this.#tones[this.#index] as Tone;
      const on = Math.round((tone.onMs * this.#rate) / 1000);
      const total = toneSamples(tone, this.#rate);
      const end = Math.min(target.length - written, total - this.#position);
      const sounding = Math.max(0, Math.min(end, on - this.#position));
      fillTone(tone, this.#rate, this.#position, target.subarray(written, written + sounding));
      target.fill(0, written + sounding, written + end);
      this.#position += end;
      written += end;
      if (this.#position >= total) this.#advance();
    }
    return written;
  }

  #advance(): void {
    this.#position = 0;
    this.#index += 1;
    if (this.#index < this.#tones.length) return;
    this.#index = 0;
    this.#loopsLeft -= 1;
  }
}

function toneSamples(tone: Tone, rate: Rate): number {
  return Math.round(((tone.onMs + tone.offMs) * rate) / 1000);
}

const oneHertz = (rate: Rate): Float64Array =>
  Float64Array.from({ length: rate }, (_, index) => Math.sin((2 * Math.PI * index) / rate));

/** One second of a 1 Hz sine at each rate: the lookup table of all frequencies in whole Hz. */
const sines = new Map<Rate, Float64Array>();

function sineOf(rate: Rate): Float64Array {
  let sine = sines.get(rate);
  if (sine === undefined) {
    sine = oneHertz(rate);
    sines.set(rate, sine);
  }
  return sine;
}

/** Fills `target` with a tone, from its sample `position` on. */
function fillTone(tone: Tone, rate: Rate, position: number, target: Int16Array): void {
  const { frequencies } = tone;
  const amplitude = FULL_SCALE_SINE * 10 ** ((tone.decibels - FULL_SCALE_DBM0) / 20);
  const sine = sineOf(rate);
  for (let index = 0; index < target.length; index += 1) {
    const at = position + index;
    let sum = 0;
    for (const frequency of frequencies) {
      const whole = Number.isInteger(frequency);
      sum +=
        amplitude *
        (whole ? (sine[(frequency * at) % rate] as number) : Math.sin((2 * Math.PI * frequency * at) / rate));
    }
    target[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
}
