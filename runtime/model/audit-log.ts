/** The audit log: class `audit` of each domain, a history class that only the node writes. */
import { AUDIT, openBuiltIn } from './built-in.ts';
import type { Model, ModelCollection } from './model.ts';
import type { Input } from './fields.ts';

/** Retention in days. */
export const AUDIT_DAYS = 365;

/** One change. Values are left out: some are secrets. */
export interface AuditEntry {
  readonly login: string;
  readonly user_id: string;
  /** Name of the session's domain. */
  readonly domain: string;
  /** Client address. */
  readonly address: string;
  readonly method: string;
  /** Path below `/rest/v1`. */
  readonly path: string;
  /** Ids of the created or changed entities, as far as the response has them; at most 100. */
  readonly ids: readonly string[];
  /** Number of entities. */
  readonly count: number;
  /** Names of the fields in the request; fields of composites are dotted. */
  readonly fields: readonly string[];
}

const text = (name: string, index = false) => ({ name, data_type: 'string', ...(index && { index }) });
const texts = (name: string) => ({ name, data_type: 'string', multi: true });

const CLASS: Input = {
  name: 'Audit log',
  description: 'Who changed what; written by the node alone',
  storage_mode: 'history',
  properties: [
    text('login', true),
    text('user_id'),
    text('domain'),
    text('address'),
    text('method'),
    text('path'),
    texts('ids'),
    { name: 'count', data_type: 'integer' },
    texts('fields'),
  ],
  opts: { partition_interval: 'month', store_days: AUDIT_DAYS, notify: false },
};

export class AuditLog {
  readonly #model: Pick<Model, 'classes' | 'collection'>;

  constructor(model: Pick<Model, 'classes' | 'collection'>) {
    this.#model = model;
  }

  /**
   * Appends an entry to a domain's audit log.
   *
   * @param domain id
   * @throws Error when an older class has the name `audit`
   */
  async write(domain: string, entry: AuditEntry): Promise<void> {
    const collection = await this.open(domain);
    await collection.create({ ...entry });
  }

  /**
   * The audit log of a domain; created if missing.
   * @param domain id
   * @throws Error when an older class has the name `audit`
   */
  open(domain: string): Promise<ModelCollection> {
    return openBuiltIn(this.#model, domain, AUDIT, CLASS);
  }
}
