/** Which domains a user may work in without another login. */
import type { Domain } from '../domain/index.ts';
import { ADMIN_ROLE } from './grants.ts';

/** What of a user decides. */
export interface Reach {
  /** Ids of the home domain, first, and of those that the user was let into. */
  readonly homes: readonly string[];
  readonly roles: readonly string[];
}

type Domains = { domainById(id: string): Domain | undefined };

/**
 * Whether a domain is one of the user's. Administrators reach the domains below theirs, too. The master domain is no
 * such parent: who administers it sees the settings of all domains, and the calls of none unless let in there.
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
