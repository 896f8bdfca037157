/** The data of a session. */
import { type Static, Type } from 'typebox';
import type { Accounts, Iam, Session } from '../runtime/iam/index.ts';
import type { WebApps } from './deps.ts';

const WebApp = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    order: Type.Integer({ description: 'Output order' }),
    icon: Type.String({ description: 'URL' }),
    'fa-icon': Type.String({ description: 'Icon-font class name' }),
    roles: Type.Array(Type.String()),
    url: Type.String({ description: 'Launch URL' }),
  },
  { additionalProperties: true },
);

/** Specification, "Session data". */
export const SessionData = Type.Object({
  domain: Type.String(),
  domain_is_master: Type.Boolean(),
  domains: Type.Array(Type.Object({ domain: Type.String(), is_master: Type.Boolean() })),
  login: Type.String(),
  name: Type.String(),
  name_login: Type.String(),
  roles: Type.Array(Type.String()),
  solution: Type.Enum(['master', 'standard']),
  tags: Type.Array(Type.String()),
  user_id: Type.String(),
  webapps: Type.Array(WebApp),
});

export interface SessionDataSources {
  readonly iam: Pick<Iam, 'reachableDomains'>;
  readonly accounts: Pick<Accounts, 'user'>;
  readonly webApps: WebApps;
}

/** The session data for the holder of a session. */
export async function sessionData(
  { iam, accounts, webApps }: SessionDataSources,
  session: Session,
): Promise<Static<typeof SessionData>> {
  const { domain, domainIsMaster, login, name, roles, userId } = session;
  const [domains, user, webapps] = await Promise.all([
    iam.reachableDomains(session),
    accounts.user(userId),
    webApps(session),
  ]);
  return {
    domain,
    domain_is_master: domainIsMaster,
    domains: [...domains],
    login,
    name,
    name_login: name === '' || name === login ? login : `${name} (${login})`,
    roles: [...roles],
    solution: domainIsMaster ? 'master' : 'standard',
    tags: [...(user?.tags ?? [])],
    user_id: userId,
    webapps: [...webapps],
  };
}
