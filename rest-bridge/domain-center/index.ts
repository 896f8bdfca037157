/** The domain-center and iam collections by path, with their permissions. */
import type { DomainRow, LiveDirectory } from '../../runtime/domain/index.ts';
import {
  type Accounts,
  ADMIN_ROLE,
  type IamCollections,
  type RoleRow,
  type Session,
  type UserRow,
} from '../../runtime/iam/index.ts';
import type { KnownProvider } from '../../runtime/events/index.ts';
import type { ScriptStore } from '../../runtime/script-store/index.ts';
import type { Fields, Resource } from '../collection/resource.ts';
import type { DomainScope } from '../domain-scope.ts';
import { badParameter, outOfReach, RestError } from '../errors.ts';
import { DomainResource, type DomainResourceRules } from './domain-resource.ts';
import { PromptResource } from './prompt-resource.ts';
import { providerRules } from './provider-rules.ts';
import { ScriptResource } from './script-resource.ts';
import { WebhookResource } from './webhook-resource.ts';

type Domains = Pick<LiveDirectory, 'collections' | 'domain' | 'domains'>;

/**
 * Resources by path below the base.
 *
 * @param files scenario files, which appear among the ivrscripts of every domain
 * @param providerStateOf what the node knows of the provider with an id
 */
export function domainCenter(
  directory: Domains,
  { collections: iam, accounts }: { readonly collections: IamCollections; readonly accounts: Accounts },
  files?: Pick<ScriptStore, 'files' | 'fileVersions'>,
  providerStateOf: (id: string) => KnownProvider | undefined = () => undefined,
) {
  const { domains, sipusers, featurecodes, routes, settings, webapps } = directory.collections;
  const { providers, recordingrules, ivrscripts } = directory.collections;
  return {
    '/domain/domains': new DomainResource(domains, directory, domainRules),
    '/domain/sipusers': new DomainResource(sipusers, directory, {
      entity: 'Sipuser',
      keys: ['login', 'phonenumber'],
      check: ({ fields, before, scope }) => ownerIsVisible(iam, fields['user_id'], before?.user_id, scope),
    }),
    '/domain/featurecodes': new DomainResource(featurecodes, directory, { entity: 'Featurecode', keys: ['prefix'] }),
    '/domain/routes': new DomainResource(routes, directory, {
      entity: 'Route',
      keys: [],
      check: ({ fields, before }) => scenarioExists(ivrscripts, files, { ...before, ...fields }, fields['target']),
    }),
    '/domain/settings': new DomainResource(settings, directory, { entity: 'Setting', keys: ['key'] }),
    '/domain/webapps': new DomainResource(webapps, directory, { entity: 'Webapp', keys: [] }),
    '/domain/providers': new DomainResource(providers, directory, providerRules(providerStateOf)),
    '/domain/recordingrules': new DomainResource(recordingrules, directory, { entity: 'Recordingrule', keys: [] }),
    '/domain/webhooks': new WebhookResource(directory),
    '/domain/prompts': new PromptResource(directory),
    '/domain/ivrscripts': new ScriptResource('ivrscripts', directory, files),
    '/domain/svcscripts': new ScriptResource('svcscripts', directory, undefined),
    '/iam/users': new DomainResource(iam.users, directory, userRules(accounts)),
    '/iam/roles': new DomainResource(iam.roles, directory, roleRules),
  } satisfies Readonly<Record<string, Resource>>;
}

/** Domains belong to themselves. A change of a domain, or of its place in the tree, must stay within the session's. */
const domainRules: DomainResourceRules<DomainRow> = {
  entity: 'Domain',
  keys: ['name'],
  domainField: 'id',
  complete: (fields, scope) => ({ parent_id: scope.own, ...fields }),
  async check({ fields, before, scope, session }) {
    if (fields['is_master'] === true && !session.domainIsMaster)
      throw new RestError('FORBIDDEN', { field: 'is_master', reason: 'is set in the master domain' });
    const parent = fields['parent_id'];
    if (parent === undefined || parent === before?.parent_id) return;
    const reachable =
      parent === null ? session.domainIsMaster : typeof parent === 'string' && scope.visible.has(parent);
    // A domain below itself would leave the tree.
    if (!reachable) throw outOfReach('parent_id');
    if (before?.id === scope.own && !session.domainIsMaster)
      throw new RestError('FORBIDDEN', {
        field: 'parent_id',
        reason: 'of the own domain is changed in the master domain',
      });
  },
};

const userRules = (accounts: Pick<Accounts, 'endSessions'>): DomainResourceRules<UserRow> => ({
  entity: 'User',
  keys: ['login'],
  async check({ fields, before, scope, session }) {
    const isAdmin = session.roles.includes(ADMIN_ROLE);
    if (!isAdmin && (before?.roles.includes(ADMIN_ROLE) === true || names(fields['roles']).includes(ADMIN_ROLE))) {
      throw new RestError('FORBIDDEN', { field: 'roles', reason: 'administrators are changed by administrators' });
    }
    const added = names(fields['domains']).filter((id) => before?.domains.includes(id) !== true);
    if (added.some((id) => !scope.visible.has(id))) throw outOfReach('domains');
    if (fields['locked'] === true && before?.id === session.userId) {
      const reason = 'is the account of this session, which could not unlock it; another administrator can';
      throw new RestError('CANNOT_APPLY', { field: 'locked', reason });
    }
  },
  /** A changed password or a disabled user ends all sessions at once. */
  async changed({ fields, after, session }) {
    if (fields['pwd'] !== undefined || after.locked) await accounts.endSessions(after.id, session.id);
  },
});

/** Only administrators may write roles: their author could grant themselves anything. */
const roleRules: DomainResourceRules<RoleRow> = {
  entity: 'Role',
  keys: ['code'],
  async check({ session }: { readonly session: Session }) {
    if (!session.roles.includes(ADMIN_ROLE))
      throw new RestError('FORBIDDEN', { reason: 'roles are written by administrators' });
  },
};

/** @throws RestError 400/1400 for a user invisible to this session */
async function ownerIsVisible(
  { users }: IamCollections,
  userId: unknown,
  before: string | null | undefined,
  scope: DomainScope,
): Promise<void> {
  if (typeof userId !== 'string' || userId === before || !/^[A-Za-z0-9_.-]{1,64}$/.test(userId)) return;
  const user = await users.get(userId);
  if (user === undefined || !scope.visible.has(user.domain_id)) {
    throw badParameter('user_id', 'names an unknown entity');
  }
}

/** @throws RestError 400/1400 for a target that is not a scenario of the domain */
async function scenarioExists(
  ivrscripts: Domains['collections']['ivrscripts'],
  files: Pick<ScriptStore, 'files'> | undefined,
  { domain_id: domainId }: Fields,
  target: unknown,
): Promise<void> {
  // The collection reports other mistakes in either.
  if (typeof target !== 'object' || target === null || typeof domainId !== 'string') return;
  const { type, code } = target as Fields;
  if (type !== 'scenario' || typeof code !== 'string') return;
  if (files?.files(domainId).some(({ program }) => program.id === code)) return;
  const found = await ivrscripts.count({ within: { field: 'domain_id', ids: [domainId] }, equal: { code } });
  if (found === 0) throw badParameter('target.code', 'names no scenario of the domain; see GET /domain/ivrscripts');
}

function names(value: Fields[string]): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
