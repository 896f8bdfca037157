/** Prometheus metrics of the node. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ANSWER } from './buckets.ts';
import { CallMetrics } from './call-metrics.ts';
import { ConferenceMetrics } from './conference-metrics.ts';
import { measureEventLoopDelay } from './event-loop-delay.ts';
import { LabelLimit } from './label-limit.ts';
import { trunkMetrics, type TrunkReading } from './trunk-metrics.ts';

/** Records milestones and ends of operations. */
export interface OperationObserver {
  /** @param seconds since the operation began */
  milestone(operation: string, milestone: string, seconds: number): void;
  /** The operation was answered. @param result of the answer */
  answered(operation: string, result: string, seconds: number): void;
  /** The operation was refused. @param code of the error */
  refused(operation: string, code: string): void;
}

/** Members of a pool by state, e.g. `{ open: 10, busy: 3, waiting: 0 }`. */
export type PoolSize = Readonly<Record<string, number>>;

/** Processor time of all scripts of a domain so far, and memory of the running ones. */
export interface ScriptsUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** Calls on their way into the history. */
export interface HistoryReading {
  readonly state: 'ok' | 'behind' | 'full';
  /** Ended calls that the database does not have yet. */
  readonly waiting: number;
  /** Calls that were not kept since the start of the node. */
  readonly dropped: number;
}

/** What is read with each scrape. */
export interface MetricsOptions {
  /** Counts of live objects by kind. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>;
  /** Sizes of pools by name. */
  readonly pools?: () => Readonly<Record<string, PoolSize>>;
  /** The history of calls. */
  readonly history?: () => HistoryReading;
  /** The states of providers. */
  readonly trunks?: () => readonly TrunkReading[];
  /** What scripts use, by domain. */
  readonly scripts?: () => ReadonlyMap<string, ScriptsUsage>;
}

/** Sums of other series, whose names end as those of counters only may. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Known values of labels: their series are there before the first count, which `rate` would miss otherwise. */
const SENDERS = ['sip', 'rest'] as const;
const SENDER_REFUSALS = ['rate', 'password', 'ban'] as const;
const TRANSPORTS = ['websocket', 'sse'] as const;
const DELIVERIES = ['delivered', 'retried', 'failed', 'dropped'] as const;

/** The node's metrics in Prometheus' text format. */
export class Metrics implements OperationObserver {
  readonly conferences: ConferenceMetrics;
  readonly calls: CallMetrics;
  readonly #registry = new Registry();
  readonly #callEvents: Counter<'event'>;
  readonly #refused: Counter<'by'>;
  readonly #sendersRefused: Counter<'reason'>;
  readonly #overloaded: Gauge;
  readonly #droppedSubscribers: Counter<'transport'>;
  readonly #eventGaps: Counter;
  readonly #webhooks: Counter<'result'>;
  readonly #operations: Counter<'operation' | 'result'>;
  readonly #answers: Histogram<'operation'>;
  readonly #milestones: Histogram<'operation' | 'milestone'>;

  constructor({ counts, pools, history, scripts = () => new Map(), trunks = () => [] }: MetricsOptions) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    const alive = new Gauge({
      name: 'ringmaster_alive',
      help: 'Live objects of the node by kind: dialogs, registrations, endpoints, RTP sockets and streams, ...',
      labelNames: ['kind'],
      registers,
      collect: async () => {
        for (const [kind, count] of Object.entries(await counts())) alive.set({ kind }, count);
      },
    });
    const pool = new Gauge({
      name: 'ringmaster_pool_size',
      help: 'Pools by state of their members: open, busy, waiting for a member, and the limit of open ones',
      labelNames: ['pool', 'state'],
      registers,
      collect: () => {
        for (const [name, size] of Object.entries(pools?.() ?? {})) {
          for (const [state, value] of Object.entries(size)) pool.set({ pool: name, state }, value);
        }
      },
    });
    scriptMetrics(this.#registry, scripts);
    if (history !== undefined) historyMetrics(this.#registry, history);
    trunkMetrics(this.#registry, trunks);
    measureEventLoopDelay(this.#registry);
    this.conferences = new ConferenceMetrics(this.#registry);
    this.calls = new CallMetrics(this.#registry);
    this.#callEvents = new Counter({
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
    this.#sendersRefused = new Counter({
      name: 'ringmaster_sip_requests_refused_total',
      help: 'SIP requests refused because of their sender: beyond its rate, with a wrong password, or banned',
      labelNames: ['reason'],
      registers,
    });
    this.#overloaded = new Gauge({
      name: 'ringmaster_overloaded',
      help: '1 while calls are refused because they would be set up too late, and five seconds longer; else 0',
      registers,
    });
    this.#droppedSubscribers = new Counter({
      name: 'ringmaster_event_subscribers_dropped_total',
      help: 'Connections of event subscribers that ended because the subscriber read too slowly',
      labelNames: ['transport'],
      registers,
    });
    this.#eventGaps = new Counter({
      name: 'ringmaster_event_gaps_total',
      help: 'Resumed subscriptions that had lost events, so that the subscriber reads its state anew',
      registers,
    });
    this.#webhooks = new Counter({
      name: 'ringmaster_webhook_deliveries_total',
      help: 'Attempts of webhook deliveries by result: delivered, retried, failed for good; and dropped events',
      labelNames: ['result'],
      registers,
    });
    for (const by of SENDERS) this.#refused.inc({ by }, 0);
    for (const reason of SENDER_REFUSALS) this.#sendersRefused.inc({ reason }, 0);
    for (const transport of TRANSPORTS) this.#droppedSubscribers.inc({ transport }, 0);
    for (const result of DELIVERIES) this.#webhooks.inc({ result }, 0);
    this.#operations = new Counter({
      name: 'ringmaster_operations_total',
      help: 'Operations by the result of their answer, or by the error code of their refusal',
      labelNames: ['operation', 'result'],
      registers,
    });
    this.#answers = new Histogram({
      name: 'ringmaster_operation_answer_seconds',
      help: 'Seconds from the request of an operation to its answer, without refused ones',
      labelNames: ['operation'],
      buckets: ANSWER,
      registers,
    });
    this.#milestones = new Histogram({
      name: 'ringmaster_operation_milestone_seconds',
      help: 'Seconds from the request of an operation to a milestone',
      labelNames: ['operation', 'milestone'],
      buckets: ANSWER,
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
    this.#callEvents.inc({ event });
  }

  callRefused(by: (typeof SENDERS)[number], calls = 1): void {
    this.#refused.inc({ by }, calls);
  }

  /** A SIP request was refused because of its sender. */
  senderRefused(reason: (typeof SENDER_REFUSALS)[number]): void {
    this.#sendersRefused.inc({ reason });
  }

  /** An overload begins or ends. */
  overloaded(now: boolean): void {
    this.#overloaded.set(now ? 1 : 0);
  }

  /** A subscriber read its events too slowly, and its connection ends. */
  subscriberDropped(transport: (typeof TRANSPORTS)[number]): void {
    this.#droppedSubscribers.inc({ transport });
  }

  /** A subscription resumed, and events were lost meanwhile. */
  eventsLost(): void {
    this.#eventGaps.inc();
  }

  webhookDelivery(result: (typeof DELIVERIES)[number]): void {
    this.#webhooks.inc({ result });
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

function historyMetrics(registry: Registry, reading: () => HistoryReading): void {
  const registers = [registry];
  const waiting = new Gauge({
    name: 'ringmaster_history_calls_waiting',
    help: 'Ended calls in the journal that the database does not have yet',
    registers,
    collect: () => {
      waiting.set(reading().waiting);
    },
  });
  const behind = new Gauge({
    name: 'ringmaster_history_behind',
    help: '1 while ended calls wait because the database does not take them, else 0',
    registers,
    collect: () => {
      behind.set(reading().state === 'ok' ? 0 : 1);
    },
  });
  const dropped = new Counter({
    name: 'ringmaster_history_calls_dropped_total',
    help: 'Ended calls that are missing in the history because the journal was full',
    registers,
    collect: () => {
      dropped.reset();
      dropped.inc(reading().dropped);
    },
  });
}

function scriptMetrics(registry: Registry, usage: () => ReadonlyMap<string, ScriptsUsage>): void {
  const limit = new LabelLimit();
  const registers = [registry];
  const labelNames = ['domain'];
  const cpu = new Counter({
    name: 'ringmaster_script_cpu_seconds_total',
    help: 'Processor time of scripts of scenarios by domain',
    labelNames,
    registers,
    collect: () => {
      cpu.reset();
      for (const [domain, { cpuMs }] of usage()) cpu.inc({ domain: limit.of(domain, '').domain }, cpuMs / 1000);
    },
  });
  const memory = new Gauge({
    name: 'ringmaster_script_memory_bytes',
    help: 'Heap and buffers of running scripts of scenarios by domain',
    labelNames,
    registers,
    collect: () => {
      memory.reset();
      for (const [domain, { memoryBytes }] of usage()) memory.inc({ domain: limit.of(domain, '').domain }, memoryBytes);
    },
  });
}
