/** Notifies listeners of changes of one class, unless its notifications are suspended. */
import type { ModelChange, ModelListener } from './model.ts';
import type { Entity } from './fields.ts';
import type { ResolvedClass } from './class-definition.ts';

/** The part of pino that the model uses. */
export interface ModelLog {
  error(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

type Change = Omit<ModelChange, 'domain' | 'classname'>;

/** The other nodes; undefined where there are none. */
export interface Peers {
  /** Forwards a change that the other nodes do not see otherwise. */
  changed?(change: Change): void;
  suspended(isSuspended: boolean, sendReload: boolean): void;
}

export class Notices {
  readonly #listeners: ReadonlySet<ModelListener>;
  readonly #log: ModelLog;
  readonly #peers: Peers | undefined;
  #isSuspended = false;

  constructor(listeners: ReadonlySet<ModelListener>, log: ModelLog, peers?: Peers) {
    this.#listeners = listeners;
    this.#log = log;
    this.#peers = peers;
  }

  /** Suspends notifications until `resume` or a restart of the node. */
  suspend(): void {
    this.suspendHere();
    this.#peers?.suspended(true, false);
  }

  suspendHere(): void {
    this.#isSuspended = true;
  }

  /** @param sendReload notifies subscribers that they missed changes */
  resume(definition: ResolvedClass, sendReload: boolean): void {
    this.resumeHere(definition, sendReload);
    this.#peers?.suspended(false, sendReload);
  }

  resumeHere(definition: ResolvedClass, sendReload: boolean): void {
    this.#isSuspended = false;
    if (sendReload) this.tellHere(definition, { operation: 'reload' });
  }

  created(definition: ResolvedClass, after: Entity): void {
    this.#tell(definition, { operation: 'create', id: after.id, after });
  }

  updated(definition: ResolvedClass, before: Entity | undefined, after: Entity): void {
    this.#tell(definition, { operation: 'update', id: after.id, before, after });
  }

  /** @param everywhere false when the other nodes notice by themselves */
  removed(definition: ResolvedClass, before: Entity, { everywhere = true }: { everywhere?: boolean } = {}): void {
    const change: Change = { operation: 'delete', id: before.id, before };
    if (everywhere) this.#tell(definition, change);
    else this.tellHere(definition, change);
  }

  cleared(definition: ResolvedClass): void {
    this.#tell(definition, { operation: 'clear' });
  }

  #tell(definition: ResolvedClass, change: Change): void {
    this.tellHere(definition, change);
    if (!this.#isSuspended && definition.opts.notify) this.#peers?.changed?.(change);
  }

  /** Notifies the listeners of this node only. */
  tellHere(definition: ResolvedClass, change: Change): void {
    if (this.#isSuspended || !definition.opts.notify) return;
    const { domain_id: domain, classname } = definition;
    for (const listener of this.#listeners) {
      try {
        listener({ domain, classname, ...change });
      } catch (error) {
        // The write has succeeded: a faulty listener must not make it fail.
        this.#log.error({ err: error, classname }, 'listener for model changes failed');
      }
    }
  }
}
