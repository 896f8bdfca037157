/** Rights of roles: denied by default, everything for `admin`; every user may access their own account. */
import type { DomainName } from '../domain-name/index.ts';
import type { RoleRow } from './collections.ts';

export interface Grant {
  /** Path below `/rest/v1`: `*` is one segment, a final `**` any number of segments, including none. */
  readonly path: string;
  readonly methods: readonly string[];
}

export const ADMIN_ROLE = 'admin';

const OPEN_TO_ALL: readonly Grant[] = [
  { path: '/user/**', methods: ['*'] },
  { path: '/iam/sessions/current', methods: ['*'] },
];

type Check = (method: string, segments: readonly string[]) => boolean;

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function compile(grant: Grant): Check {
  const pattern = segmentsOf(grant.path);
  const open = pattern.at(-1) === '**';
  const fixed = open ? pattern.slice(0, -1) : pattern;
  const methods = new Set(grant.methods);
  // HEAD is GET without the body (RFC 9110 section 9.3.2).
  if (methods.has('GET')) methods.add('HEAD');
  return (method, segments) =>
    (methods.has('*') || methods.has(method)) &&
    (open ? segments.length >= fixed.length : segments.length === fixed.length) &&
    fixed.every((segment, index) => segment === '*' || segment === segments[index]);
}

const openChecks = OPEN_TO_ALL.map(compile);

/** All roles, by domain and code. */
export class RoleTable {
  readonly #checks = new Map<DomainName, ReadonlyMap<string, readonly Check[]>>();
  readonly #master: DomainName | undefined;

  /** @param domains id, name and kind of every domain */
  constructor(roles: readonly RoleRow[], domains: readonly { id: string; name: DomainName; isMaster: boolean }[]) {
    for (const { id, name, isMaster } of domains) {
      const own = roles.filter((role) => role.domain_id === id);
      this.#checks.set(name, new Map(own.map((role) => [role.code, role.grants.map(compile)])));
      if (isMaster) this.#master = name;
    }
  }

  /**
   * True when one of the roles allows the request.
   *
   * @param domain the session's domain; a code that it lacks is looked up in the master domain
   * @param method upper case, custom methods by their own name
   * @param path below `/rest/v1`, decoded, without query and without `!method`
   */
  allows(domain: DomainName, roles: readonly string[], method: string, path: string): boolean {
    const segments = segmentsOf(path);
    // Not canonical: later code might read the path differently.
    if (path.includes('!') || segments.includes('..') || segments.includes('.')) return false;
    if (openChecks.some((check) => check(method, segments))) return true;
    return roles.some(
      (code) => code === ADMIN_ROLE || this.#checksOf(domain, code).some((check) => check(method, segments)),
    );
  }

  #checksOf(domain: DomainName, code: string): readonly Check[] {
    const own = this.#checks.get(domain)?.get(code);
    return own ?? (this.#master === undefined ? undefined : this.#checks.get(this.#master)?.get(code)) ?? [];
  }
}
