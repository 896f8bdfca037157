/** Prometheus metrics of the node. */
import { Counter, collectDefaultMetrics, Gauge, Registry, Summary } from 'prom-client';
import { ConferenceMetrics } from './conference-metrics.ts';
import { PERCENTILES, WINDOW } from './summaries.ts';

/** Records milestones and ends of operations. */
export interface OperationObserver {
  /** @param seconds since the operation began */
  milestone(operation: string, milestone: string, seconds: number): void;
  /** The operation was answered. @param result of the answer */
  answered(operation: string, result: string, seconds: number): void;
  /** The operation was refused. @param code of the error */
  refused(operation: string, code: string): void;
}

export interface MetricsOptions {
  /** Counts of live objects by kind, read with each scrape. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>;
}

/** The node's metrics in Prometheus' text format. */
export class Metrics implements OperationObserver {
  readonly conferences: ConferenceMetrics;
  readonly #registry = new Registry();
  readonly #calls: Counter<'event'>;
  readonly #refused: Counter<'by'>;
  readonly #overloaded: Gauge;
  readonly #operations: Counter<'operation' | 'result'>;
  readonly #answers: Summary<'operation'>;
  readonly #milestones: Summary<'operation' | 'milestone'>;

  constructor({ counts }: MetricsOptions) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    const alive = new Gauge({
      name: 'ringmaster_alive',
      help: 'Live objects of the node by kind: dialogs, registrations, endpoints, RTP sockets and streams, ...',
      labelNames: ['kind'],
      registers,
      collect: async () => {
        for (const [kind, count] of Object.entries(await counts())) alive.set({ kind }, count);
      },
    });
    this.conferences = new ConferenceMetrics(this.#registry);
    this.#calls = new Counter({
      name: 'ringmaster_call_events_total',
      help: 'Events of calls: call_init, call_answered, call_end, ...',
      labelNames: ['event'],
      registers,
    });
    this.#refused = new Counter({
      name: 'ringmaster_calls_refused_total',
      help: 'Calls refused because the node was at its limit or overloaded',
      labelNames: ['by'],
      registers,
    });
    this.#overloaded = new Gauge({
      name: 'ringmaster_overloaded',
      help: '1 while calls are refused because they would be set up too late, and five seconds longer; else 0',
      registers,
    });
    this.#operations = new Counter({
      name: 'ringmaster_operations_total',
      help: 'Operations by the result of their answer, or by the error code of their refusal',
      labelNames: ['operation', 'result'],
      registers,
    });
    this.#answers = new Summary({
      name: 'ringmaster_operation_answer_seconds',
      help: 'Seconds from the request of an operation to its answer, without refused ones, over the last ten minutes',
      labelNames: ['operation'],
      percentiles: PERCENTILES,
      ...WINDOW,
      registers,
    });
    this.#milestones = new Summary({
      name: 'ringmaster_operation_milestone_seconds',
      help: 'Seconds from the request of an operation to a milestone, over the last ten minutes',
      labelNames: ['operation', 'milestone'],
      percentiles: PERCENTILES,
      ...WINDOW,
      registers,
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics now. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  call(event: string): void {
    this.#calls.inc({ event });
  }

  callRefused(by: 'sip' | 'rest'): void {
    this.#refused.inc({ by });
  }

  /** An overload begins or ends. */
  overloaded(now: boolean): void {
    this.#overloaded.set(now ? 1 : 0);
  }

  milestone(operation: string, milestone: string, seconds: number): void {
    this.#milestones.observe({ operation, milestone }, seconds);
  }

  refused(operation: string, code: string): void {
    this.#operations.inc({ operation, result: code });
  }

  answered(operation: string, result: string, seconds: number): void {
    this.#operations.inc({ operation, result });
    this.#answers.observe({ operation }, seconds);
  }
}
