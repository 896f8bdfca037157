/** The audit log: class `audit` of each domain, a history class that only the node writes. */
import type { ClassDefinition } from './class-definition.ts';
import { CannotApplyError, ConflictError, NotFoundError } from './errors.ts';
import type { Model, ModelCollection } from './model.ts';
import type { Input } from './fields.ts';

/** Class name, reserved in every domain. */
export const AUDIT_CLASS = 'audit';
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
  classname: AUDIT_CLASS,
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
  ext: { audit_log: true },
};

/** True for the audit log; false for an older class of the same name. */
export function isAuditLog({ classname, ext }: Pick<ClassDefinition, 'classname' | 'ext'>): boolean {
  return classname === AUDIT_CLASS && ext['audit_log'] === true;
}

/** @throws CannotApplyError for the audit log */
export function refuseAuditWrite(definition: Pick<ClassDefinition, 'classname' | 'ext'>): void {
  if (isAuditLog(definition)) throw new CannotApplyError('classname', 'is the audit log, which nobody writes by hand');
}

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
    if (!isAuditLog(collection.definition))
      throw new Error(`The class ${AUDIT_CLASS} of domain ${domain} is not the audit log. Rename that class.`);
    await collection.create({ ...entry });
  }

  /** The audit log of a domain; created if missing. @param domain id */
  async open(domain: string): Promise<ModelCollection> {
    try {
      return this.#model.collection(domain, AUDIT_CLASS);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    try {
      await this.#model.classes(domain).create(CLASS);
    } catch (error) {
      // Another request or node created it first.
      if (!(error instanceof ConflictError)) throw error;
    }
    return this.#model.collection(domain, AUDIT_CLASS);
  }
}
