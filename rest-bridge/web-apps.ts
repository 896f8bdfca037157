import type { LiveDirectory } from '../runtime/domain/index.ts';
import { ADMIN_ROLE } from '../runtime/iam/index.ts';
import type { WebApps } from './deps.ts';

/** The web applications of a session's domain that its user's roles may use. */
export function webAppsOf(directory: Pick<LiveDirectory, 'domain' | 'collections'>): WebApps {
  return async (session) => {
    const domainId = directory.domain(session.domain)?.id;
    const mine = (roles: readonly string[]): boolean =>
      roles.length === 0 || session.roles.includes(ADMIN_ROLE) || roles.some((role) => session.roles.includes(role));
    const ids = domainId === undefined ? [] : [domainId];
    return (await directory.collections.webapps.select({ within: { field: 'domain_id', ids } }))
      .filter((app) => mine(app.roles))
      .toSorted((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
      .map(({ name, description, order, icon, 'fa-icon': faIcon, roles, url, ext }) => {
        const { ct: _created, lwt: _changed, ...extra } = ext;
        return { ...extra, name, description, order, icon, 'fa-icon': faIcon, roles, url };
      });
  };
}
