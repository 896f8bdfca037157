/** Interrupts of running blocks. */
import type { DomainName } from '../../domain-name/index.ts';
import { type CallPort, CallStateError } from '../call-port.ts';
import type { Clock } from '../clock.ts';
import { type EventPort, eventName } from '../ports/events.ts';
import type { CallNotice } from '../ports/watching.ts';
import type { Interrupt, InterruptKind, Value } from '../../language/index.ts';
import type { Message } from './mailbox.ts';

/** Interrupts by the other party's phone. */
const OF_THE_CALL: readonly InterruptKind[] = ['dtmf', 'hold', 'unhold', 'sip'];

/** The value of `event` in expressions after an interrupt. */
export interface InterruptEvent {
  readonly kind: InterruptKind;
  /** The key, the name of the message or event, the duration. */
  readonly name: string;
  readonly data: Value;
}

export interface InterruptSources {
  readonly call: CallPort | undefined;
  readonly clock: Clock;
  readonly events: EventPort;
  readonly domain: DomainName;
  /** Of a run that another node began: its times count from then, and those until `saved` are over. */
  readonly resumed?: { readonly start: number; readonly saved: number } | undefined;
}

/** Watches for the interrupts under a scenario's `on`, and passes on their targets. */
export class Interrupts {
  readonly #interrupts: readonly Interrupt[];
  readonly #fire: (target: string, event: InterruptEvent) => void;
  readonly #stops: (() => void)[] = [];

  constructor(interrupts: readonly Interrupt[], fire: (target: string, event: InterruptEvent) => void) {
    this.#interrupts = interrupts;
    this.#fire = fire;
  }

  /** @throws ScenarioError code `unavailable` when the node lacks a source of the named events */
  start(sources: InterruptSources): void {
    this.#watchCall(sources.call);
    for (const interrupt of this.#interrupts) {
      if (interrupt.kind === 'after') this.#timer(interrupt, sources);
      if (interrupt.kind === 'event') this.#listen(interrupt, sources);
    }
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** @returns true when a hang-up has a target */
  hungUp(reason: string): boolean {
    return this.#happened('hangup', '', reason);
  }

  /** @returns true when the message interrupts */
  message({ name, data, from }: Message): boolean {
    return this.#happened('message', name, { data, from });
  }

  /** An interrupt with a name takes precedence over one for any. */
  #happened(kind: InterruptKind, name: string, data: Value): boolean {
    const found =
      this.#interrupts.find((interrupt) => interrupt.kind === kind && interrupt.name === name) ??
      this.#interrupts.find((interrupt) => interrupt.kind === kind && interrupt.name === '');
    if (found) this.#fire(found.target, { kind, name, data });
    return found !== undefined;
  }

  #watchCall(call: CallPort | undefined): void {
    if (!this.#interrupts.some(({ kind }) => OF_THE_CALL.includes(kind))) return;
    if (!call) throw new CallStateError('on: dtmf, hold or sip', 'none');
    this.#stops.push(call.watch((notice) => this.#noticed(notice)));
  }

  #noticed(notice: CallNotice): boolean {
    if (notice.kind === 'dtmf') return this.#happened('dtmf', notice.digit, notice.digit);
    if (notice.kind !== 'sip') return this.#happened(notice.kind, '', null);
    const { method, contentType, body } = notice;
    return this.#happened('sip', method, { method, content_type: contentType, body });
  }

  #timer({ name, target, milliseconds }: Interrupt, { clock, resumed }: InterruptSources): void {
    const controller = new AbortController();
    const { start, saved } = resumed ?? { start: clock.now(), saved: 0 };
    if (start + milliseconds <= saved) return;
    clock.sleep(Math.max(0, start + milliseconds - clock.now()), controller.signal).then(
      () => this.#fire(target, { kind: 'after', name, data: null }),
      () => undefined,
    );
    this.#stops.push(() => controller.abort());
  }

  #listen({ name, target }: Interrupt, { events, domain }: InterruptSources): void {
    this.#stops.push(
      events.subscribe({ domain, ...eventName(name) }, ({ data }) => this.#fire(target, { kind: 'event', name, data })),
    );
  }
}
