/** Prometheus metrics of the states of providers. */
import { Gauge, type Registry } from 'prom-client';
import { LabelLimit, OTHER } from './label-limit.ts';

/** The state of a provider, read with each scrape. */
export interface TrunkReading {
  readonly domain: string;
  /** Code of the provider. */
  readonly trunk: string;
  readonly state: string;
  /** Null while nothing was asked. */
  readonly reachable: boolean | null;
  /** Of a provider with several. */
  readonly gateways: readonly { readonly gateway: string; readonly reachable: boolean | null }[];
}

export function trunkMetrics(registry: Registry, read: () => readonly TrunkReading[]): void {
  const limit = new LabelLimit();
  const registers = [registry];
  const labelNames = ['domain', 'trunk', 'state'];
  const state = new Gauge({
    name: 'ringmaster_trunk_state',
    help: 'Providers by the state of their registration, as this node sees it: 1 for the present state',
    labelNames,
    registers,
    collect: () => {
      state.reset();
      for (const each of read()) {
        const { domain, name: trunk } = limit.of(each.domain, each.trunk);
        state.inc({ domain, trunk, state: each.state });
      }
    },
  });
  const reachable = new Gauge({
    name: 'ringmaster_trunk_reachable',
    help: 'Whether a provider answered the last REGISTER or OPTIONS of this node; absent while nothing was asked',
    labelNames: ['domain', 'trunk'],
    registers,
    collect: () => {
      reachable.reset();
      for (const each of read()) {
        if (each.reachable === null) continue;
        const { domain, name: trunk } = limit.of(each.domain, each.trunk);
        reachable.inc({ domain, trunk }, each.reachable ? 1 : 0);
      }
    },
  });
  const gateways = new Gauge({
    name: 'ringmaster_trunk_gateway_reachable',
    help: 'Whether a gateway of a provider is there; absent while nothing was asked or called',
    labelNames: ['domain', 'trunk', 'gateway'],
    registers,
    collect: () => {
      gateways.reset();
      for (const each of read()) {
        const { domain, name: trunk } = limit.of(each.domain, each.trunk);
        for (const { gateway, reachable: there } of each.gateways)
          if (there !== null)
            gateways.inc({ domain, trunk, gateway: trunk === OTHER ? OTHER : gateway }, there ? 1 : 0);
      }
    },
  });
}
