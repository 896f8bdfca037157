/** What a node knows of its providers. */
import type { Provider } from '../../domain/index.ts';
import type { SipAnswer } from '../../signalling/index.ts';

export type TrunkStateName = 'registered' | 'registering' | 'rejected' | 'unreachable' | 'unregistered';

/** An answer to a REGISTER or OPTIONS of this node. */
export interface LastAnswer {
  readonly status: number;
  readonly reason: string;
  readonly at: number;
}

/** The state of a provider as this node sees it. Times are milliseconds since the epoch. */
export interface TrunkStatus {
  /** Of the registration; `unregistered` where none is configured, or no gateway is registered here. */
  readonly state: TrunkStateName;
  /** By its last answer; null while nothing was asked. */
  readonly reachable: boolean | null;
  /** The last change of either. */
  readonly since: number;
  /** End of the registration; null without one. */
  readonly expires: number | null;
  /** The last answer to a REGISTER or OPTIONS of this node. */
  readonly answer: LastAnswer | null;
}

/** Statuses of a far end that is not there, or cannot work now (RFC 3261 sections 21.4.9 and 21.5.4). */
const ABSENT = new Set([408, 503]);

/** True unless nobody answered, or only to say that it cannot work. */
export function isPresent({ status, local }: SipAnswer): boolean {
  return !local && !ABSENT.has(status);
}

type Change = Partial<Omit<TrunkStatus, 'since' | 'answer'>> & { readonly answer?: SipAnswer };

const UNKNOWN: Omit<TrunkStatus, 'since'> = { state: 'unregistered', reachable: null, expires: null, answer: null };

/** The states of all providers, and their changes. */
export class TrunkBoard {
  readonly #statuses = new Map<string, TrunkStatus>();
  readonly #changed: (provider: Provider, status: TrunkStatus) => void;

  /** @param changed called when `state` or `reachable` of a known provider has changed */
  constructor(changed: (provider: Provider, status: TrunkStatus) => void) {
    this.#changed = changed;
  }

  of(id: string): TrunkStatus | undefined {
    return this.#statuses.get(id);
  }

  put(provider: Provider, { answer, ...change }: Change): void {
    const at = Date.now();
    const before = this.#statuses.get(provider.id);
    const said = answer === undefined ? {} : { answer: { status: answer.status, reason: answer.reason, at } };
    const next = { ...UNKNOWN, ...before, ...change, ...said };
    const isSame = next.state === before?.state && next.reachable === before.reachable;
    const status = { ...next, since: isSame ? before.since : at };
    this.#statuses.set(provider.id, status);
    if (before !== undefined && !isSame) this.#changed(provider, status);
  }

  /** Forgets all others. @param ids of the providers in use */
  keep(ids: ReadonlyMap<string, unknown>): void {
    for (const id of this.#statuses.keys()) if (!ids.has(id)) this.#statuses.delete(id);
  }
}
