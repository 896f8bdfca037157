/** Prometheus metrics of calls by trunk and by scenario. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { ANSWER, RUN } from './buckets.ts';
import { LabelLimit } from './label-limit.ts';
import { type CountedRun, ScenarioMetrics } from './scenario-metrics.ts';
import { type CountedMedia, MediaMetrics, type MediaSide } from './media-metrics.ts';

/** A call with a provider. */
export interface TrunkCall {
  readonly domain: string;
  /** Code of the provider. */
  readonly trunk: string;
  /** `in`: the provider called. */
  readonly direction: 'in' | 'out';
}

/** Metrics of calls with providers, of calls to scenarios, of runs, and of the sound of legs. */
export class CallMetrics {
  readonly #trunks = new LabelLimit();
  readonly #scenarios = new LabelLimit();
  readonly #trunkCalls: Counter<'domain' | 'trunk' | 'direction' | 'status'>;
  readonly #trunkSetup: Histogram<'domain' | 'trunk' | 'direction'>;
  readonly #scenarioCalls: Counter<'domain' | 'scenario' | 'status'>;
  readonly #scenarioSetup: Histogram<'domain' | 'scenario'>;
  readonly #runs: Histogram<'domain' | 'scenario' | 'status'>;
  readonly #media: MediaMetrics;
  readonly #scenarioMetrics: ScenarioMetrics;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#media = new MediaMetrics(registry);
    this.#scenarioMetrics = new ScenarioMetrics(registry);
    this.#trunkCalls = new Counter({
      name: 'ringmaster_trunk_calls_total',
      help: 'Calls with providers by their final SIP status, 200 for answered ones',
      labelNames: ['domain', 'trunk', 'direction', 'status'],
      registers,
    });
    this.#trunkSetup = new Histogram({
      name: 'ringmaster_trunk_call_setup_seconds',
      help: 'Seconds from the INVITE of an answered call with a provider to its answer, with the ringing',
      labelNames: ['domain', 'trunk', 'direction'],
      buckets: ANSWER,
      registers,
    });
    this.#scenarioCalls = new Counter({
      name: 'ringmaster_scenario_calls_total',
      help: 'Calls to scenarios by their final SIP status, 200 for answered ones',
      labelNames: ['domain', 'scenario', 'status'],
      registers,
    });
    this.#scenarioSetup = new Histogram({
      name: 'ringmaster_scenario_call_setup_seconds',
      help: 'Seconds from the beginning of a call to a scenario until the scenario has answered it',
      labelNames: ['domain', 'scenario'],
      buckets: ANSWER,
      registers,
    });
    this.#runs = new Histogram({
      name: 'ringmaster_scenario_run_seconds',
      help: 'Duration of the runs of scenarios by their end: completed, ended, failed, stopped',
      labelNames: ['domain', 'scenario', 'status'],
      buckets: RUN,
      registers,
    });
  }

  /**
   * A call with a provider has its final answer.
   * @param status SIP status, one of a bounded number
   * @param seconds since its INVITE
   */
  trunkCall(call: TrunkCall, status: number, seconds: number): void {
    const { domain, name: trunk } = this.#trunks.of(call.domain, call.trunk);
    const labels = { domain, trunk, direction: call.direction };
    this.#trunkCalls.inc({ ...labels, status });
    if (status < 300) this.#trunkSetup.observe(labels, seconds);
  }

  /** The same for a call to a scenario. @param code of the scenario */
  scenarioCall(domain: string, code: string, status: number, seconds: number): void {
    const labels = this.#ofScenario(domain, code);
    this.#scenarioCalls.inc({ ...labels, status });
    if (status < 300) this.#scenarioSetup.observe(labels, seconds);
  }

  /** The media of a phone or provider has ended. */
  mediaEnded(side: MediaSide, media: CountedMedia): void {
    this.#media.ended(side, media);
  }

  /** A run ended. */
  runEnded(run: CountedRun): void {
    const labels = this.#ofScenario(run.domain, run.scenario);
    this.#runs.observe({ ...labels, status: run.status }, run.milliseconds / 1000);
    this.#scenarioMetrics.ended(labels, run);
  }

  #ofScenario(ofDomain: string, code: string): { readonly domain: string; readonly scenario: string } {
    const { domain, name: scenario } = this.#scenarios.of(ofDomain, code);
    return { domain, scenario };
  }
}
