/** Domains in which a user may work without another login. */
import type { Domain } from '../domain/index.ts';
import { ADMIN_ROLE } from './grants.ts';

/** The relevant fields of a user. */
export interface Reach {
  /** Ids of the home domain, first, and of the user's further domains. */
  readonly homes: readonly string[];
  readonly roles: readonly string[];
}

type Domains = { domainById(id: string): Domain | undefined };

/**
 * True for the user's own domains. Administrators also reach the domains below theirs. The master domain is an
 * exception: its administrators see the settings of all domains, but no calls of other domains.
 */
export function reaches({ homes, roles }: Reach, domainId: string, domains: Domains): boolean {
  if (homes.includes(domainId)) return true;
  if (!roles.includes(ADMIN_ROLE)) return false;
  const above = new Set<string>();
  for (let at = domains.domainById(domainId); at !== undefined && !above.has(at.id); ) {
    if (!at.isMaster && homes.includes(at.id)) return true;
    above.add(at.id);
    at = at.parentId === undefined ? undefined : domains.domainById(at.parentId);
  }
  return false;
}
