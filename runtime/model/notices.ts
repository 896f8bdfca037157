/** Tells listeners of the changes of one class, unless its notifications are suspended. */
import type { Entity, ModelChange, ModelListener } from './model.ts';
import type { ResolvedClass } from './class-definition.ts';

/** The part of pino that the model uses. */
export interface ModelLog {
  error(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export class Notices {
  readonly #listeners: ReadonlySet<ModelListener>;
  readonly #log: ModelLog;
  #isSuspended = false;

  constructor(listeners: ReadonlySet<ModelListener>, log: ModelLog) {
    this.#listeners = listeners;
    this.#log = log;
  }

  /** Until `resume`, or until the node starts again. */
  suspend(): void {
    this.#isSuspended = true;
  }

  /** @param sendReload tells subscribers that they have missed changes */
  resume(definition: ResolvedClass, sendReload: boolean): void {
    this.#isSuspended = false;
    if (sendReload) this.#tell(definition, { operation: 'reload' });
  }

  created(definition: ResolvedClass, after: Entity): void {
    this.#tell(definition, { operation: 'create', id: after.id, after });
  }

  updated(definition: ResolvedClass, before: Entity | undefined, after: Entity): void {
    this.#tell(definition, { operation: 'update', id: after.id, before, after });
  }

  removed(definition: ResolvedClass, before: Entity): void {
    this.#tell(definition, { operation: 'delete', id: before.id, before });
  }

  cleared(definition: ResolvedClass): void {
    this.#tell(definition, { operation: 'clear' });
  }

  #tell(definition: ResolvedClass, change: Omit<ModelChange, 'domain' | 'classname'>): void {
    if (this.#isSuspended || !definition.opts.notify) return;
    const { domain_id: domain, classname } = definition;
    for (const listener of this.#listeners) {
      try {
        listener({ domain, classname, ...change });
      } catch (error) {
        // The write has happened: a listener's defect must not make it look refused.
        this.#log.error({ err: error, classname }, 'a listener to model changes failed');
      }
    }
  }
}
