/** Scripts of simulated phones. */
import { parseDuration } from '../../language/index.ts';
import { ANSWERS, type ScriptedAnswer } from './answers.ts';
import type { Turn } from './turns.ts';

/** The script of a called phone. */
export interface PhoneScript {
  readonly answers: readonly ScriptedAnswer[];
  /** Turns after its answer, while it is connected with the scenario or the caller. */
  readonly turns?: readonly Turn[];
}

/** Scripts of phones by number; a list has one for each call, and the last one for all later calls. */
export type PhoneScripts = Readonly<Record<string, PhoneScript | readonly PhoneScript[]>>;

/** The phones of one simulation, with a count of their calls. */
export class Phones {
  readonly #scripts: PhoneScripts;
  readonly #calls = new Map<string, number>();

  constructor(scripts: PhoneScripts = {}) {
    this.#scripts = scripts;
  }

  /** The script of a phone's next call; undefined without one. */
  called(number: string): PhoneScript | undefined {
    const script = this.#now(number);
    this.#calls.set(number, (this.#calls.get(number) ?? 0) + 1);
    return script;
  }

  /** The script of a phone that receives a text. */
  texted(number: string): PhoneScript | undefined {
    return this.#now(number);
  }

  #now(number: string): PhoneScript | undefined {
    const scripts = [Object.hasOwn(this.#scripts, number) ? (this.#scripts[number] ?? []) : []].flat();
    return scripts[this.#calls.get(number) ?? 0] ?? scripts.at(-1);
  }
}

/** The default phone: rings at once, answers after a second, and hangs up after a minute. */
export const ANSWERING: PhoneScript = { answers: ANSWERS, turns: [{ kind: 'hang_up', after: 60_000 }] };

/** SIP statuses by authors' words for a phone's answer. */
const REFUSALS: Readonly<Record<string, number>> = { busy: 486, declines: 603, unknown: 404, unavailable: 480 };
const RINGS: ScriptedAnswer = { after: 0, status: 180 };

/**
 * Parses a phone's script in an author's words. First its answer: `answers`, `busy`, `no answer`, `declines`, `unknown`,
 * `unavailable` or a SIP status, with `after 5s` as the ringing time. Then its actions in the call, those of a caller:
 * `answers after 2s, presses 1, says "yes, please", hangs up after 30s`.
 * @returns undefined for another text
 */
export function readPhone(text: string): PhoneScript | undefined {
  const [first = '', ...deeds] = partsOf(text);
  const answers = readAnswers(first);
  const turns = deeds.map((deed) => readDeed(deed) ?? readStep(deed));
  if (answers === undefined || turns.includes(undefined)) return undefined;
  return turns.length === 0 ? { answers } : { answers, turns: turns as Turn[] };
}

function readAnswers(text: string): readonly ScriptedAnswer[] | undefined {
  const read = timed(text);
  if (read === undefined) return undefined;
  const { deed, after } = read;
  if (deed === 'no answer') return [RINGS];
  if (deed === 'answers') return [RINGS, { after: after ?? 1000, status: 200 }];
  const status = REFUSALS[deed] ?? (/^[3-6]\d\d$/.test(deed) ? Number(deed) : undefined);
  if (status === undefined) return undefined;
  return after === undefined ? [{ after: 50, status }] : [RINGS, { after, status }];
}

/**
 * Parses a caller's script in the same words: `presses 12#, silence, says yes, hears menu.wav, holds after 2s, resumes, hangs up`.
 * @returns the first invalid part, if any
 */
export function readSteps(text: string): readonly Turn[] | { readonly unknown: string } {
  const turns: Turn[] = [];
  for (const part of partsOf(text)) {
    const turn = part === 'hangs up' ? ({ kind: 'hang_up' } as const) : (readDeed(part) ?? readStep(part));
    if (turn === undefined) return { unknown: part };
    turns.push(turn);
  }
  return turns;
}

/** The parts between commas; a text in double quotes may have commas of its own. */
function partsOf(text: string): readonly string[] {
  return (text.match(/(?:"[^"]*"|[^,"]|")+/g) ?? []).map((part) => part.trim());
}

function unquoted(words: string): string {
  return /^"([^"]*)"$/.exec(words)?.[1] ?? words;
}

function readStep(text: string): Turn | undefined {
  if (text === 'silence') return { kind: 'silence' };
  const [, sound] = /^hears\s+(\S.*)$/.exec(text) ?? [];
  if (sound !== undefined) return { kind: 'hear', sound: unquoted(sound) };
  const { deed, after } = timed(text) ?? { deed: '' };
  const when = after === undefined ? {} : { after };
  const [, words] = /^says\s+(\S.*)$/.exec(deed) ?? [];
  if (words !== undefined) return { kind: 'say', text: unquoted(words), ...when };
  if (deed === 'beeps') return { kind: 'beep', ...when };
  if (deed === 'holds') return { kind: 'hold', ...when };
  return deed === 'resumes' ? { kind: 'unhold', ...when } : undefined;
}

/** `presses 1 after 5s`: an action, and its delay after the action before. */
function timed(text: string): { readonly deed: string; readonly after: number | undefined } | undefined {
  const [, deed = '', time] = /^(.*?)(?:\s+after\s+(\S+))?$/.exec(text) ?? [];
  const after = time === undefined ? undefined : parseDuration(time);
  return time !== undefined && after === undefined ? undefined : { deed, after };
}

function readDeed(text: string): Turn | undefined {
  const { deed, after } = timed(text) ?? { deed: '' };
  const when = after === undefined ? {} : { after };
  const [, digits] = /^presses\s+([0-9*#A-D]+)$/.exec(deed) ?? [];
  if (digits !== undefined) return { kind: 'press', digits, ...when };
  return deed === 'hangs up' ? { kind: 'hang_up', after: after ?? 0 } : undefined;
}
