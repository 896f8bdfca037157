/** The application `play_and_get_digits`. */
import { NO_RESPONSE, type ApplicationStart, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import { type CollectRules, DigitCollector } from './digit-collector.ts';
import { fileList, Player } from './player.ts';

/** Largest number of digits kept during the invalid prompt. */
const MAX_TYPED_AHEAD = 128;

/** The arguments of `play_and_get_digits`. */
export interface PlayAndGetDigits extends CollectRules {
  readonly tries: number;
  readonly prompt: string;
  readonly invalidPrompt: string;
  readonly variable: string;
  readonly pattern: RegExp | undefined;
}

/**
 * Reads `<min> <max> <tries> <timeout> <terminators> <file> <invalid file> <variable> <pattern> [<digit timeout>]`;
 * single quotes keep spaces together.
 *
 * @returns undefined when arguments are missing or are not numbers
 */
export function parsePlayAndGetDigits(data: string): PlayAndGetDigits | undefined {
  const words = Array.from(data.matchAll(/'([^']*)'|(\S+)/g), (match) => match[1] ?? match[2] ?? '');
  const [min, max, tries, timeout, terminators = '', prompt = '', invalidPrompt = '', variable = '', pattern = ''] =
    words;
  const numbers = [min, max, tries, timeout, words[9] ?? timeout].map(Number);
  if (words.length < 6 || numbers.some((value) => !Number.isInteger(value) || value < 0)) return undefined;
  const [minimum, maximum, rounds, firstDigitMs, nextDigitMs] = numbers as [number, number, number, number, number];
  return {
    min: Math.min(minimum, 128),
    max: Math.min(Math.max(maximum, 1), 128),
    tries: Math.min(Math.max(rounds, 1), 100),
    firstDigitMs: firstDigitMs === 0 ? Number.POSITIVE_INFINITY : firstDigitMs,
    nextDigitMs: nextDigitMs === 0 ? firstDigitMs : nextDigitMs,
    terminators: terminators === 'none' ? '' : terminators,
    prompt,
    invalidPrompt,
    variable,
    pattern: toPattern(pattern),
  };
}

function toPattern(text: string): RegExp | undefined {
  if (text === '') return undefined;
  try {
    return new RegExp(text);
  } catch {
    return /^(?!)/; // as in FreeSWITCH, an invalid pattern matches no input
  }
}

/** Plays a prompt, collects digits during and after it, and tries again after invalid input. */
class PlayAndCollect implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  readonly #rules: PlayAndGetDigits;
  #player: Player | undefined;
  #collector: DigitCollector;
  #triesLeft: number;
  /** True while the invalid prompt plays between two tries; digits are kept for the next try. */
  #refusing = false;
  readonly #typedAhead: string[] = [];
  #done = false;

  constructor(channel: Channel, rules: PlayAndGetDigits) {
    this.#channel = channel;
    this.#rules = rules;
    this.#triesLeft = rules.tries;
    if (rules.pattern !== undefined) channel.variables.delete(`${rules.variable}_invalid`);
    this.#collector = this.#startTry();
  }

  tick(): boolean {
    if (this.#done) return true;
    if (this.#player !== undefined) {
      if (!this.#player.tick()) return this.#afterInput();
      this.#player = undefined;
      if (this.#refusing) {
        if (this.#triesLeft === 0) return true;
        this.#collector = this.#startTry();
        // Digits pressed during the invalid prompt count, and interrupt the next prompt.
        for (const digit of this.#typedAhead.splice(0)) this.digit(digit);
        return this.#done;
      }
      this.#collector.startWaiting();
      return this.#afterInput();
    }
    this.#channel.audio.writeSilence();
    this.#collector.tick();
    return this.#afterInput();
  }

  digit(digit: string): void {
    if (this.#done) return;
    if (this.#refusing) {
      if (this.#typedAhead.length < MAX_TYPED_AHEAD) this.#typedAhead.push(digit);
      return;
    }
    this.#collector.digit(digit);
    if (this.#player !== undefined) {
      this.#player.stop();
      this.#player = undefined;
      this.#collector.startWaiting();
    }
    this.#done = this.#afterInput();
  }

  break(): void {
    this.#player?.stop();
    this.#done = true;
  }

  pause(): boolean {
    return this.#player?.pause() ?? false;
  }

  end(): void {
    this.#player?.stop();
  }

  #startTry(): DigitCollector {
    this.#triesLeft -= 1;
    this.#refusing = false;
    this.#channel.variables.delete('read_result');
    this.#channel.variables.delete(this.#rules.variable);
    const collector = new DigitCollector(this.#rules);
    if (this.#rules.prompt === '' || this.#rules.prompt === 'silence') collector.startWaiting();
    else this.#player = new Player(this.#channel, fileList(this.#channel, this.#rules.prompt));
    return collector;
  }

  /** @returns true when the application is done */
  #afterInput(): boolean {
    const { result, digits, terminator } = this.#collector;
    if (result === undefined || this.#refusing) return false;
    const { variable, pattern, min, invalidPrompt } = this.#rules;
    if (terminator !== undefined) this.#channel.set('read_terminator_used', terminator);
    this.#channel.set('read_result', result);
    if (digits !== '') this.#channel.set(variable, digits);
    // As in FreeSWITCH, the variable decides, so a terminator of an earlier collection counts too.
    if (min === 0 && digits === '' && this.#channel.get('read_terminator_used') !== undefined) return true;
    if (result !== 'failure' && digits !== '' && digits.length >= min) {
      if (pattern === undefined || pattern.test(digits)) return true;
      this.#channel.variables.delete(variable);
      this.#channel.set(`${variable}_invalid`, digits);
    }
    this.#refusing = true;
    this.#player = new Player(this.#channel, fileList(this.#channel, invalidPrompt));
    return false;
  }
}

export const playAndGetDigits: ApplicationStart = (channel, data) => {
  const rules = parsePlayAndGetDigits(data);
  return rules === undefined ? NO_RESPONSE : new PlayAndCollect(channel, rules);
};
