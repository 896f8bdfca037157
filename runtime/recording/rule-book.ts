/** The recording rules of all domains. */
import type { DomainName } from '../domain-name/index.ts';
import { type Collection, type DialPattern, dialPattern, type RecordingRuleRow } from '../domain/index.ts';
import type { RecordedCall, RecordedLeg } from './call.ts';

/** Settings of a matching rule. */
export interface RecordingRule {
  readonly id: string;
  readonly record: boolean;
  readonly permitPause: boolean;
  /** Name of the storage; empty: the node's own. */
  readonly storage: string;
  /** True: recordings are transcribed automatically (`opts.transcribe`). */
  readonly transcribe: boolean;
}

interface Entry extends RecordingRule {
  readonly priority: number;
  readonly sipUserId: string | undefined;
  readonly direction: string;
  readonly number: DialPattern;
}

/** The recording rules of all domains, in memory, so that a call without a rule costs nothing. */
export class RuleBook {
  readonly #byDomain = new Map<string, Entry[]>();
  readonly #rules: Collection<RecordingRuleRow>;
  readonly #domainId: (name: DomainName) => string | undefined;

  /** @param domainId looks up a domain's id by its name */
  constructor(rules: Collection<RecordingRuleRow>, domainId: (name: DomainName) => string | undefined) {
    this.#rules = rules;
    this.#domainId = domainId;
  }

  /** Loads the rules and follows their changes. */
  async open(): Promise<void> {
    this.#rules.onChange(({ before, after }) => {
      if (before !== undefined) this.#remove(before);
      if (after !== undefined) this.#put(after);
    });
    this.#rules.onReset(() => this.reload());
    await this.reload();
  }

  /** Reloads all rules. */
  async reload(): Promise<void> {
    const rows = await this.#rules.list();
    this.#byDomain.clear();
    for (const row of rows) this.#put(row);
  }

  /**
   * The rules for a call, by domain: the first rule by priority that matches one of the domain's parties. Domains
   * without a matching rule are omitted.
   */
  decide(call: RecordedCall): ReadonlyMap<DomainName, RecordingRule> {
    const decided = new Map<DomainName, RecordingRule>();
    for (const domain of new Set(call.legs.map((leg) => leg.domain))) {
      const entries = this.#byDomain.get(this.#domainId(domain) ?? '');
      const rule = entries?.find((entry) => call.legs.some((leg) => fits(entry, leg, domain, call)));
      if (rule !== undefined) decided.set(domain, rule);
    }
    return decided;
  }

  #put(row: RecordingRuleRow): void {
    this.#remove(row);
    if (!row.enabled) return;
    const entry: Entry = {
      id: row.id,
      record: row.record,
      permitPause: row.permit_pause,
      storage: row.storage,
      transcribe: row.opts['transcribe'] === true,
      priority: row.priority,
      sipUserId: row.sipuser_id ?? undefined,
      direction: row.direction,
      number: dialPattern(row.number_pattern),
    };
    const entries = [...(this.#byDomain.get(row.domain_id) ?? []), entry];
    entries.sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
    this.#byDomain.set(row.domain_id, entries);
  }

  #remove({ id, domain_id: domain }: RecordingRuleRow): void {
    const left = this.#byDomain.get(domain)?.filter((entry) => entry.id !== id) ?? [];
    if (left.length === 0) this.#byDomain.delete(domain);
    else this.#byDomain.set(domain, left);
  }
}

/** True when a rule matches a call as seen by one of its parties. */
function fits(entry: Entry, leg: RecordedLeg, domain: DomainName, { legs }: RecordedCall): boolean {
  if (leg.domain !== domain) return false;
  if (entry.sipUserId !== undefined && entry.sipUserId !== leg.sipUserId) return false;
  if (entry.direction !== 'any' && entry.direction !== directionOf(leg)) return false;
  const other = legs.find(({ side }) => side !== leg.side);
  if (other === undefined) return entry.number.matches('');
  return entry.number.matches(other.number) || (other.login !== undefined && entry.number.matches(other.login));
}

/**
 * As the account sees it; a trunk's side sees the call as the account on the other side does. Undefined for a scenario: the
 * other side says whether the call came in.
 */
function directionOf({ side, sipUserId, endpoint }: RecordedLeg): 'in' | 'out' | undefined {
  if (sipUserId !== undefined) return side === 'a' ? 'out' : 'in';
  if (endpoint === undefined) return undefined;
  return side === 'a' ? 'in' : 'out';
}
