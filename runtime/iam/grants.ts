/** What roles allow: deny by default, `admin` has all; what is the user's own anyway is open to every user. */
import type { RoleRow } from './collections.ts';

export interface Grant {
  /** Below `/rest/v1`: `*` is one segment, a last `**` all that follow, none included. */
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
  // The same without the body (RFC 9110 section 9.3.2).
  if (methods.has('GET')) methods.add('HEAD');
  return (method, segments) =>
    (methods.has('*') || methods.has(method)) &&
    (open ? segments.length >= fixed.length : segments.length === fixed.length) &&
    fixed.every((segment, index) => segment === '*' || segment === segments[index]);
}

const openChecks = OPEN_TO_ALL.map(compile);

/** All roles, by domain name in lower case and code. */
export class RoleTable {
  readonly #checks = new Map<string, ReadonlyMap<string, readonly Check[]>>();
  readonly #master: string | undefined;

  /** @param domains id, name and kind of every domain */
  constructor(roles: readonly RoleRow[], domains: readonly { id: string; name: string; isMaster: boolean }[]) {
    for (const { id, name, isMaster } of domains) {
      const own = roles.filter((role) => role.domain_id === id);
      this.#checks.set(name.toLowerCase(), new Map(own.map((role) => [role.code, role.grants.map(compile)])));
      if (isMaster) this.#master = name.toLowerCase();
    }
  }

  /**
   * Whether one of the roles allows the call.
   *
   * @param domain the session's domain; a code that it does not define is the master domain's
   * @param method upper case, custom methods under their own name
   * @param path below `/rest/v1`, decoded, without query and without `!method`
   */
  allows(domain: string, roles: readonly string[], method: string, path: string): boolean {
    const segments = segmentsOf(path);
    // Not canonical: what it will mean further on is unsure.
    if (path.includes('!') || segments.includes('..') || segments.includes('.')) return false;
    if (openChecks.some((check) => check(method, segments))) return true;
    return roles.some(
      (code) => code === ADMIN_ROLE || this.#checksOf(domain, code).some((check) => check(method, segments)),
    );
  }

  #checksOf(domain: string, code: string): readonly Check[] {
    const own = this.#checks.get(domain.toLowerCase())?.get(code);
    return own ?? (this.#master === undefined ? undefined : this.#checks.get(this.#master)?.get(code)) ?? [];
  }
}
