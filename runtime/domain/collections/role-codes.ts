/** Checks role codes in other entities. */
import type { Kysely } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { InvalidFieldError } from '../errors.ts';

/** The built-in role with every right in every domain. */
const BUILT_IN = 'admin';

export interface RoleReferences {
  readonly codes: readonly string[];
  /** Codes already in the entity; their roles may have been removed. */
  readonly before: unknown;
  /** Ids of the domains whose roles are valid; the master domain's roles are valid everywhere. */
  readonly domains: readonly string[];
}

/** @throws InvalidFieldError naming the first unknown role */
export async function checkRoles(
  db: Kysely<Schema>,
  entity: string,
  { codes, before, domains }: RoleReferences,
): Promise<void> {
  const kept: readonly unknown[] = Array.isArray(before) ? before : [];
  const added = codes.filter((code) => code !== BUILT_IN && !kept.includes(code));
  if (added.length === 0) return;
  const found = await db
    .selectFrom('roles')
    .innerJoin('domains', 'domains.id', 'roles.domain_id')
    .select('roles.code')
    .where('roles.code', 'in', added)
    .where((where) => where.or([where('roles.domain_id', 'in', [...domains]), where('domains.is_master', '=', true)]))
    .execute();
  const known = new Set(found.map(({ code }) => code));
  const unknown = added.find((code) => !known.has(code));
  if (unknown === undefined) return;
  throw new InvalidFieldError(entity, `roles.${codes.indexOf(unknown)}`, 'must be the code of a role', unknown);
}
