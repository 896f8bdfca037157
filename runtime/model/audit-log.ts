/** Who changed what: the class `audit` of each domain, kept by time as any history class, and written by the node alone. */
import type { ClassDefinition } from './class-definition.ts';
import { CannotApplyError, ConflictError, NotFoundError } from './errors.ts';
import type { Model, ModelCollection } from './model.ts';
import type { Input } from './fields.ts';

/** Name of the class, which no other class of a domain may have. */
export const AUDIT_CLASS = 'audit';
/** Days for which entries are kept. */
export const AUDIT_DAYS = 365;

/** A change that was made. No value is in it: some are secrets. */
export interface AuditEntry {
  readonly login: string;
  readonly user_id: string;
  /** Name of the domain that the session worked in. */
  readonly domain: string;
  /** Where the request came from. */
  readonly address: string;
  readonly method: string;
  /** Below `/rest/v1`. */
  readonly path: string;
  /** Of what was made or changed, as far as it was answered; the first hundred. */
  readonly ids: readonly string[];
  /** How many entities. */
  readonly count: number;
  /** Names of the fields that were given, those of composites dotted. */
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

/** Whether a class is the audit log, and not one of this name from before there was one. */
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
   * Writes an entry into the log of a domain.
   *
   * @param domain id
   * @throws Error where an older class has the log's name
   */
  async write(domain: string, entry: AuditEntry): Promise<void> {
    const collection = await this.open(domain);
    if (!isAuditLog(collection.definition))
      throw new Error(`a class ${AUDIT_CLASS} of the domain ${domain} is in the way`);
    await collection.create({ ...entry });
  }

  /** The log of a domain, which is made when it is not there. @param domain id */
  async open(domain: string): Promise<ModelCollection> {
    try {
      return this.#model.collection(domain, AUDIT_CLASS);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    try {
      await this.#model.classes(domain).create(CLASS);
    } catch (error) {
      // Another request or node was first.
      if (!(error instanceof ConflictError)) throw error;
    }
    return this.#model.collection(domain, AUDIT_CLASS);
  }
}
