/** The other party of a simulated call. */
import path from 'node:path';
import {
  type CallNotice,
  type Clock,
  type CollectOptions,
  type CollectResult,
  type ListenOptions,
  type ListenResult,
  type MachineOptions,
  type MachineResult,
  MASK,
  type PlayOptions,
  type PlayResult,
  type RecordOptions,
  type RecordResult,
  type SayOptions,
} from '../../runs/index.ts';
import type { PlaySource } from '../../language/index.ts';
import { InTurn } from './in-turn.ts';
import { THINK_MS, type Taken, type Turn, Turns } from './turns.ts';

/** Duration of every simulated prompt. */
export const PROMPT_MS = 1000;
/** Duration of a spoken character. */
export const CHARACTER_MS = 60;

/** The simulated party's view of its call. */
export interface PartyLink {
  readonly clock: Clock;
  readonly endSignal: AbortSignal;
  note(what: string, sounds?: readonly string[]): void;
  hangUp(): void;
  /** Those who hear of keys that no block listens for, hold and resume. */
  readonly watchers: Set<(notice: CallNotice) => boolean>;
  /** Adds words to the recording in this file. */
  said(file: string, words: string): void;
}

/** The other party: follows its turns while the scenario plays, listens and records. */
export class SimulatedParty {
  readonly #link: PartyLink;
  readonly #turns: Turns;
  /** Concurrent sounds are played one after the other; endless music gives way. */
  readonly #sounds = new InTurn();
  /** The turn with a time of its own. */
  #armed: Turn | undefined;
  /** The turn that a listening block waits for. */
  #taken: Turn | undefined;

  constructor(link: PartyLink, turns: readonly Turn[]) {
    this.#link = link;
    this.#turns = new Turns(turns);
  }

  /** Turns that were not reached. */
  get left(): readonly Turn[] {
    return this.#turns.left;
  }

  /** Starts the time of the first turn: at the connection of the call, or when phones begin to ring for its caller. */
  connected(): void {
    this.#turns.started(this.#link.clock.now());
    this.#arm();
  }

  async play(
    sources: readonly PlaySource[],
    { signal, stopDigits = '', repeat = 1 }: PlayOptions,
  ): Promise<PlayResult> {
    if (repeat !== Infinity) return this.#sounds.next(signal, () => this.#play(sources, stopDigits, repeat, signal));
    return this.#play(sources, stopDigits, repeat, signal);
  }

  /** Hears sounds that go on in the background. */
  hear(sources: readonly PlaySource[]): void {
    const sounds = sources.map(describe);
    this.#link.note(`play ${sounds.join(' ')} (until stopped)`, sounds);
    this.#heard(sounds);
  }

  async #play(
    sources: readonly PlaySource[],
    stopDigits: string,
    repeat: number,
    signal: AbortSignal,
  ): Promise<PlayResult> {
    const rounds = Number.isFinite(repeat) ? repeat : undefined;
    const times = repeat === 1 ? '' : rounds === undefined ? ' (until stopped)' : ` (${rounds} times)`;
    this.#link.note(`play ${sources.map(describe).join(' ')}${times}`, sources.map(describe));
    const milliseconds = sources.reduce((sum, source) => sum + length(source), 0) * (rounds ?? Infinity);
    return this.#listenWhile(sources.map(describe), milliseconds, stopDigits, signal);
  }

  async say(text: string, { signal, stopDigits = '' }: SayOptions): Promise<PlayResult> {
    return this.#sounds.next(signal, () => {
      this.#link.note(`say ${text}`, [text]);
      return this.#listenWhile([text], text.length * CHARACTER_MS, stopDigits, signal);
    });
  }

  /** Digits typed ahead count and skip the prompt; a later press counts within the timeout. */
  async collect(options: CollectOptions): Promise<CollectResult> {
    const { signal, prompt = [], min, max, timeoutMs, interDigitMs, terminators, sensitive = false } = options;
    const shown = (digits: string): string => (sensitive ? MASK : digits);
    const ahead = this.#turns.takeAhead(max);
    let { digits, terminator } = split(ahead, max, terminators);
    if (ahead === '') {
      if (prompt.length > 0) this.#link.note(`prompt ${prompt.map(describe).join(' ')}`, prompt.map(describe));
      this.#heard(prompt.map(describe));
    } else this.#link.note(`pressed ${shown(ahead)}`);
    while (terminator === undefined && digits.length < max) {
      const first = digits === '';
      const window = first ? prompt.reduce((sum, source) => sum + length(source), 0) + timeoutMs : interDigitMs;
      const taken = first || this.#turns.isTimed ? this.#turns.listened(this.#now, window) : undefined;
      if (taken?.turn.kind !== 'press') {
        await (first ? this.#silent(taken, window, signal) : this.#pass(window, signal));
        return { digits, reason: digits.length >= min ? 'complete' : 'timeout', terminator };
      }
      await this.#until({ ...taken, turn: taken.turn }, signal);
      const pressed = split(taken.turn.digits, max - digits.length, terminators);
      this.#link.note(`pressed ${shown(`${pressed.digits}${pressed.terminator ?? ''}`)}`);
      this.#pressed(pressed.digits.length + (pressed.terminator === undefined ? 0 : 1));
      digits += pressed.digits;
      terminator = pressed.terminator;
    }
    return { digits, reason: terminator === undefined ? 'complete' : 'terminator', terminator };
  }

  /** Recognises every said word; with hints, only the hints among them, like real engines. */
  async listen({ signal, prompt, timeoutMs, hints, maxMs, sensitive = false }: ListenOptions): Promise<ListenResult> {
    if (prompt.length > 0) this.#link.note(`prompt ${prompt.map(describe).join(' ')}`, prompt.map(describe));
    this.#heard(prompt.map(describe));
    const window = prompt.reduce((sum, source) => sum + length(source), 0) + timeoutMs;
    const taken = this.#turns.listened(this.#now, window);
    if (taken?.turn.kind !== 'say') {
      await this.#silent(taken, window, signal);
      return { outcome: 'silence', text: '', milliseconds: 0 };
    }
    await this.#until(taken, signal);
    const { text } = taken.turn;
    const milliseconds = Math.min(maxMs, text.length * CHARACTER_MS);
    this.#link.note(`said ${sensitive ? MASK : text}`);
    await this.#pass(milliseconds, signal);
    this.#done();
    const understood = hints.length === 0 || hints.some((hint) => hint.toLowerCase() === text.toLowerCase());
    return { outcome: understood ? 'heard' : 'failed', text: understood ? text : '', milliseconds };
  }

  /** Speech shorter than `greeting` is a person's; longer speech, or none, is a machine's. */
  async detectMachine(options: MachineOptions): Promise<MachineResult> {
    const { signal, initialSilenceMs, greetingMs, afterGreetingSilenceMs, endMs } = options;
    const start = this.#now;
    const heard = (result: Pick<MachineResult, 'result' | 'cause'>, silenceMs: number, voiceMs: number) => ({
      ...result,
      end: undefined,
      milliseconds: this.#now - start,
      silenceMs,
      greetingMs: voiceMs,
      words: voiceMs === 0 ? 0 : 1,
    });
    const taken = this.#turns.listened(this.#now, initialSilenceMs);
    if (taken?.turn.kind !== 'say') {
      await this.#silent(taken, initialSilenceMs, signal);
      return this.#greeted(start, heard({ result: 'machine', cause: 'initial_silence' }, initialSilenceMs, 0), options);
    }
    await this.#until(taken, signal);
    const spokenMs = taken.turn.text.length * CHARACTER_MS;
    this.#link.note(`said ${taken.turn.text}`);
    const isLong = spokenMs >= greetingMs;
    await this.#pass(isLong ? greetingMs : spokenMs + afterGreetingSilenceMs, signal);
    const decided = isLong
      ? heard({ result: 'machine', cause: 'long_greeting' }, taken.delay, greetingMs)
      : heard({ result: 'human', cause: 'short_greeting' }, taken.delay, spokenMs);
    if (isLong && endMs !== undefined) await this.#pass(Math.min(endMs, spokenMs - greetingMs), signal);
    this.#done();
    return isLong ? this.#greeted(start, decided, options) : decided;
  }

  /** Waits for the end of a machine's greeting, if that is wanted. */
  async #greeted(
    start: number,
    decided: MachineResult,
    { signal, endMs, endSilenceMs }: MachineOptions,
  ): Promise<MachineResult> {
    if (endMs === undefined) return decided;
    const { next } = this.#turns;
    if (next?.kind === 'beep') {
      this.#taken = next;
      this.#link.note('beeped');
      await this.#pass(next.after ?? THINK_MS, signal);
      this.#taken = undefined;
      this.#done();
    } else await this.#pass(endSilenceMs, signal);
    const end = next?.kind === 'beep' ? 'beep' : 'silence';
    return { ...decided, end, milliseconds: this.#now - start };
  }

  async record({ signal, file, maxMs, silenceMs, stopDigits }: RecordOptions): Promise<RecordResult> {
    this.#link.note(`record ${path.basename(file)}`);
    const start = this.#now;
    const left = (): number => start + maxMs - this.#now;
    for (;;) {
      const taken = this.#turns.listened(this.#now, left());
      if (!taken) {
        const ends = silenceMs > 0 && silenceMs < left();
        const heard = this.#now - start;
        await this.#silent(undefined, ends ? silenceMs : left(), signal);
        if (ends) return { milliseconds: heard, reason: 'silence', digit: undefined };
        return { milliseconds: this.#now - start, reason: 'limit', digit: undefined };
      }
      await this.#until(taken, signal);
      const digit = await this.#recorded(file, taken.turn, left(), signal);
      if (digit !== undefined && stopDigits.includes(digit))
        return { milliseconds: this.#now - start, reason: 'digit', digit };
    }
  }

  /** Adds speech to the recording; returns a digit. */
  async #recorded(
    file: string,
    turn: Taken['turn'],
    longestMs: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (turn.kind === 'press') {
      const [digit] = turn.digits;
      this.#link.note(`pressed ${digit ?? ''}`);
      this.#pressed(1);
      return digit;
    }
    if (turn.kind === 'say') {
      this.#link.note(`said ${turn.text}`);
      this.#link.said(file, turn.text);
      await this.#pass(Math.min(longestMs, turn.text.length * CHARACTER_MS), signal);
    }
    this.#done();
    return undefined;
  }

  /** Hears a sound and may interrupt it by a digit of `stopDigits`. */
  async #listenWhile(
    sounds: readonly string[],
    milliseconds: number,
    stopDigits: string,
    signal: AbortSignal,
  ): Promise<PlayResult> {
    this.#heard(sounds);
    const silent = stopDigits !== '' && this.#turns.next?.kind === 'silence';
    const taken = stopDigits === '' ? undefined : this.#turns.listened(this.#now, milliseconds);
    const digit = taken?.turn.kind === 'press' ? taken.turn.digits[0] : undefined;
    if (taken !== undefined && digit !== undefined && stopDigits.includes(digit)) {
      await this.#until(taken, signal);
      this.#link.note(`pressed ${digit}`);
      this.#pressed(1);
      return { digit, milliseconds: taken.delay };
    }
    if (milliseconds === Infinity) await this.forEver(signal);
    if (silent) await this.#silent(undefined, milliseconds, signal);
    else await this.#pass(milliseconds, signal);
    return { digit: undefined, milliseconds };
  }

  /** Waits until the signal aborts or the call ends, and rejects with the reason. */
  async forEver(signal: AbortSignal): Promise<never> {
    const either = AbortSignal.any([signal, this.#link.endSignal]);
    const { promise, reject } = Promise.withResolvers<never>();
    if (either.aborted) reject(either.reason);
    either.addEventListener('abort', () => reject(either.reason), { once: true });
    this.#interject();
    return promise;
  }

  get #now(): number {
    return this.#link.clock.now();
  }

  #heard(sounds: readonly string[]): void {
    for (const sound of sounds) this.#turns.heard(sound, this.#now);
    this.#arm();
    this.#interject();
  }

  /** Ends a turn without an action for a while. */
  async #silent(taken: Taken | undefined, milliseconds: number, signal: AbortSignal): Promise<void> {
    const { next } = this.#turns;
    await this.#pass(milliseconds, signal);
    // Speech in place of keys uses up the turn, too.
    if ((next?.kind === 'silence' || taken?.turn.kind === 'say') && this.#turns.next === next) this.#done();
  }

  /** Lets the time until a turn pass. */
  async #until({ turn, delay }: Taken, signal: AbortSignal): Promise<void> {
    this.#taken = turn;
    try {
      await this.#pass(delay, signal);
    } finally {
      this.#taken = undefined;
    }
  }

  /** Offers keys to the watcher while no block listens. */
  #interject(): void {
    const { next } = this.#turns;
    if (this.#link.watchers.size === 0 || next?.kind !== 'press' || next.after !== undefined) return;
    this.#schedule(next, THINK_MS);
  }

  #arm(): void {
    const { next } = this.#turns;
    const due = this.#turns.dueIn(this.#now);
    if (next !== undefined && due !== undefined) this.#schedule(next, due);
  }

  #schedule(turn: Turn, due: number): void {
    if (this.#armed === turn) return;
    this.#armed = turn;
    const happen = (): void => {
      if (this.#armed === turn) this.#armed = undefined;
      if (this.#turns.next === turn && this.#taken !== turn) this.#happen(turn);
    };
    this.#link.clock.sleep(due, this.#link.endSignal).then(happen, () => undefined);
  }

  /** Takes a turn that no block waits for. */
  #happen(turn: Turn): void {
    if (turn.kind === 'press') return this.#offerDigits(turn.digits, turn.after !== undefined);
    if (turn.kind === 'say') this.#link.note(`said ${turn.text} (nothing listened)`);
    if (turn.kind === 'beep') this.#link.note('beeped (nothing listened)');
    this.#done();
    if (turn.kind === 'hang_up') this.#link.hangUp();
    if (turn.kind === 'hold' || turn.kind === 'unhold') {
      this.#link.note(turn.kind === 'hold' ? 'held' : 'resumed');
      this.#offer({ kind: turn.kind });
    }
  }

  #offerDigits(digits: string, timed: boolean): void {
    let used = 0;
    while (used < digits.length && this.#offer({ kind: 'dtmf', digit: digits[used] ?? '' })) used += 1;
    if (used > 0) this.#link.note(`pressed ${digits.slice(0, used)}`);
    // Unused keys are typed ahead, unless their turn waits for a listening block.
    if (used > 0 || timed) this.#pressed(used);
  }

  #offer(notice: CallNotice): boolean {
    let used = false;
    for (const watcher of this.#link.watchers) used = watcher(notice) || used;
    return used;
  }

  #pressed(count: number): void {
    this.#turns.pressed(count, this.#now);
    this.#arm();
  }

  #done(): void {
    this.#turns.done(this.#now);
    this.#arm();
  }

  /** Lets time pass; rejects with the reason of the signal that ends it early. */
  async #pass(milliseconds: number, signal: AbortSignal): Promise<void> {
    await this.#link.clock.sleep(milliseconds, AbortSignal.any([signal, this.#link.endSignal]));
  }
}

/** The name of a sound in tests and transcripts. */
export function describe(source: PlaySource): string {
  if ('file' in source) return path.basename(source.name ?? source.file);
  if ('text' in source) return source.text;
  return 'tone' in source ? `tone:${source.tone}` : `silence:${source.silenceMs}ms`;
}

function length(source: PlaySource): number {
  if ('text' in source) return source.text.length * CHARACTER_MS;
  return 'silenceMs' in source ? source.silenceMs : PROMPT_MS;
}

/** Keys up to the maximum or a terminator. */
function split(pressed: string, max: number, terminators: string): { digits: string; terminator: string | undefined } {
  let end = 0;
  while (end < Math.min(max, pressed.length) && !terminators.includes(pressed.charAt(end))) end += 1;
  return { digits: pressed.slice(0, end), terminator: end < max ? pressed[end] : undefined };
}
