/** Prometheus metrics of conferences. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { WORK } from './buckets.ts';

/** Metrics of conferences. The numbers of conferences and participants are among the gauges of live objects. */
export class ConferenceMetrics {
  readonly #events: Counter<'event'>;
  readonly #commands: Counter;
  readonly #effect: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#events = new Counter({
      name: 'ringmaster_conference_events_total',
      help: 'Events of conferences: conf_start, conf_join, conf_leave of participants that had joined, conf_end',
      labelNames: ['event'],
      registers,
    });
    this.#commands = new Counter({
      name: 'ringmaster_topology_commands_total',
      help: 'Commands that changed who hears whom in a conference',
      registers,
    });
    this.#effect = new Histogram({
      name: 'ringmaster_topology_effect_seconds',
      help: 'Seconds from a request with topology commands until the media server has carried them out',
      buckets: WORK,
      registers,
    });
  }

  happened(event: 'conf_start' | 'conf_join' | 'conf_leave' | 'conf_end'): void {
    this.#events.inc({ event });
  }

  commanded(commands: number, seconds: number): void {
    this.#commands.inc(commands);
    this.#effect.observe(seconds);
  }
}
