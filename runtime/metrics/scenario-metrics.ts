/** Prometheus metrics of the runs of scenarios: failures, time in blocks, processor time and memory. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { LabelLimit } from './label-limit.ts';

/** An ended run. */
export interface CountedRun {
  readonly domain: string;
  readonly scenario: string;
  /** `completed`, `ended`, `failed` or `stopped`. */
  readonly status: string;
  /** Error code of a failed one. */
  readonly code: string | undefined;
  readonly milliseconds: number;
  /** By name. */
  readonly blocks: ReadonlyMap<string, { readonly count: number; readonly totalMs: number }>;
  /** Of its scripts. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

interface Scenario {
  readonly domain: string;
  readonly scenario: string;
}

/** Scenarios whose blocks, and whose codes, have series of their own, and how many of each. */
const MOST_SCENARIOS = 500;
const MOST_BLOCKS = 50;
const MOST_CODES = 20;

export class ScenarioMetrics {
  readonly #blockNames = new LabelLimit(MOST_SCENARIOS, MOST_BLOCKS);
  readonly #codes = new LabelLimit(MOST_SCENARIOS, MOST_CODES);
  readonly #memoryOf = new Map<string, number>();
  readonly #failures: Counter<'domain' | 'scenario' | 'code'>;
  readonly #blocks: Counter<'domain' | 'scenario' | 'block'>;
  readonly #blockSeconds: Counter<'domain' | 'scenario' | 'block'>;
  readonly #cpu: Counter<'domain' | 'scenario'>;
  readonly #memory: Gauge<'domain' | 'scenario'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#failures = new Counter({
      name: 'ringmaster_scenario_failures_total',
      help: 'Failed runs of scenarios by error code',
      labelNames: ['domain', 'scenario', 'code'],
      registers,
    });
    this.#blocks = new Counter({
      name: 'ringmaster_scenario_blocks_total',
      help: 'Blocks that ended runs went through, by name',
      labelNames: ['domain', 'scenario', 'block'],
      registers,
    });
    this.#blockSeconds = new Counter({
      name: 'ringmaster_scenario_block_seconds_total',
      help: 'Seconds that ended runs spent in blocks, by name',
      labelNames: ['domain', 'scenario', 'block'],
      registers,
    });
    this.#cpu = new Counter({
      name: 'ringmaster_scenario_cpu_seconds_total',
      help: 'Processor time of the scripts of ended runs',
      labelNames: ['domain', 'scenario'],
      registers,
    });
    this.#memory = new Gauge({
      name: 'ringmaster_scenario_memory_bytes',
      help: 'Greatest memory of a script of an ended run since the start of the node',
      labelNames: ['domain', 'scenario'],
      registers,
    });
  }

  ended(labels: Scenario, { code, blocks, cpuMs, memoryBytes }: CountedRun): void {
    const of = `${labels.domain}/${labels.scenario}`;
    if (code !== undefined) this.#failures.inc({ ...labels, code: this.#codes.of(of, code).name });
    for (const [name, { count, totalMs }] of blocks) {
      const block = this.#blockNames.of(of, name).name;
      this.#blocks.inc({ ...labels, block }, count);
      this.#blockSeconds.inc({ ...labels, block }, totalMs / 1000);
    }
    if (memoryBytes === 0) return;
    this.#cpu.inc({ ...labels }, cpuMs / 1000);
    const most = Math.max(memoryBytes, this.#memoryOf.get(of) ?? 0);
    this.#memoryOf.set(of, most);
    this.#memory.set({ ...labels }, most);
  }
}
