/** The domains that a session administers. */
import type { Directory } from '../runtime/domain/index.ts';
import type { Session } from '../runtime/iam/index.ts';

/** The domains that a session administers. */
export interface DomainScope {
  /** Id of the session's domain. */
  readonly own: string;
  /** Ids of the domains whose entities are visible: the session's, those below it; in the master domain, all. */
  readonly visible: ReadonlySet<string>;
}

/** The scope of a session; empty when its domain was removed meanwhile. */
export function scopeOf(directory: Pick<Directory, 'domain' | 'domains'>, session: Session): DomainScope {
  const own = directory.domain(session.domain);
  if (own === undefined) return { own: '', visible: new Set() };
  const all = directory.domains();
  if (own.isMaster) return { own: own.id, visible: new Set(all.map(({ id }) => id)) };
  const children = Map.groupBy(all, ({ parentId }) => parentId);
  const visible = new Set([own.id]);
  // The iteration of a set includes elements added meanwhile.
  for (const id of visible) for (const child of children.get(id) ?? []) visible.add(child.id);
  return { own: own.id, visible };
}
