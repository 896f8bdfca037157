/** The collections of users and roles, built on the domain-center's collections. */
import { type Static, Type } from 'typebox';
import { type Kysely, sql } from 'kysely';
import {
  checkRoles,
  Code,
  Collection,
  type CollectionDefinition,
  Composite,
  composites,
  EntityInUseError,
  Id,
  InvalidFieldError,
  Label,
  Login,
  Password,
} from '../domain/index.ts';
import type { ChangeNotices, Schema } from '../storage/index.ts';
import { NO_PASSWORD, hashPassword } from './password.ts';

const userSchema = Type.Object({
  id: Id,
  domain_id: Id,
  login: Login,
  name: Label,
  /** Stored as a hash only. Without it nobody can log in. */
  pwd: Type.Optional(Password),
  /** Role codes. */
  roles: Type.Array(Code, { maxItems: 100, uniqueItems: true }),
  /** Ids of further domains that the user may log in to or change to. */
  domains: Type.Array(Id, { maxItems: 1_000, uniqueItems: true }),
  tags: Type.Array(Label, { maxItems: 100, uniqueItems: true }),
  /** True: the user may not log in, and live sessions end. */
  locked: Type.Boolean(),
  ...composites,
});

export type UserRow = Static<typeof userSchema> & { readonly password: string };

const users: CollectionDefinition = {
  entity: 'user',
  table: 'users',
  schema: userSchema,
  defaults: { name: '', roles: [], domains: [], tags: [], locked: false, opts: {}, ext: {}, lic: {}, security: {} },
  composites: ['opts', 'ext', 'lic', 'security'],
  json: ['roles', 'domains', 'tags'],
  writeOnly: ['pwd'],
  hidden: ['password'],
  constraints: { users_login_key: 'login', users_domain_id_fkey: 'domain_id' },
  async prepare({ pwd }) {
    return typeof pwd === 'string' ? { password: await hashPassword(pwd) } : {};
  },
  async derive(entity, before, db) {
    const { roles: codes, domains, domain_id: home } = entity as UserRow;
    await checkRoles(db, 'user', { codes, before: before?.['roles'], domains: [home, ...domains] });
    // Without a password nobody can log in: no text has this hash.
    return entity['password'] === undefined && before === undefined ? { password: NO_PASSWORD } : {};
  },
};

const roleSchema = Type.Object({
  id: Id,
  domain_id: Id,
  /** Code named by users. A master domain's role applies to all domains without a role of this code. */
  code: Code,
  name: Label,
  grants: Type.Array(
    Type.Object(
      {
        /** Path below `/rest/v1`; `*` is one segment, a final `**` any number of segments, including none. */
        path: Type.String({
          pattern: '^(?:/(?:\\*|[^/*!]+))*(?:/\\*\\*)?$',
          description: 'a path such as /uc/calls, with * for one segment, and a last ** for all that follow',
          minLength: 1,
          maxLength: 256,
        }),
        /** Upper case; `*` is every method. */
        methods: Type.Array(
          Type.String({ pattern: '^(?:\\*|[A-Z_]{1,32})$', description: 'a method in upper case, or *' }),
          { minItems: 1, maxItems: 64 },
        ),
      },
      { additionalProperties: false },
    ),
    { maxItems: 500 },
  ),
  opts: Composite,
  ext: Composite,
});

export type RoleRow = Static<typeof roleSchema>;

const roles: CollectionDefinition = {
  entity: 'role',
  table: 'roles',
  schema: roleSchema,
  defaults: { name: '', grants: [], opts: {}, ext: {} },
  composites: ['opts', 'ext'],
  json: ['grants'],
  writeOnly: [],
  hidden: [],
  constraints: { roles_code_key: 'code', roles_domain_id_fkey: 'domain_id' },
  async derive({ code }, before, db) {
    const login =
      before === undefined || before['code'] === code ? undefined : await userWithRole(before as RoleRow, db);
    if (login !== undefined)
      throw new InvalidFieldError('role', 'code', `cannot change while user ${login} has it`, code);
    return {};
  },
  async checkRemoval(before, db) {
    const login = await userWithRole(before as RoleRow, db);
    if (login !== undefined) throw new EntityInUseError('role', before.id, `user ${login}`);
  },
};

/**
 * A user affected by this role: one of its domain, or for a master domain's role, of a domain without a role of this
 * code.
 */
async function userWithRole({ code, domain_id: domain }: RoleRow, db: Kysely<Schema>): Promise<string | undefined> {
  const { rows } = await sql<{ login: string }>`
    select u.login from users u
    where u.roles @> ${JSON.stringify([code])}::jsonb and (
      u.domain_id = ${domain} or u.domains @> ${JSON.stringify([domain])}::jsonb
      or exists (select 1 from domains d where d.id = ${domain} and d.is_master)
        and not exists (select 1 from roles r where r.domain_id = u.domain_id and r.code = ${code}))
    order by u.login limit 1`.execute(db);
  return rows[0]?.login;
}

export interface IamCollections {
  readonly users: Collection<UserRow>;
  readonly roles: Collection<RoleRow>;
}

/**
 * @param db the database, or a transaction to write several entities at once
 * @param notices between the nodes on the database, if there are several
 */
export function createIamCollections(db: Kysely<Schema>, notices?: ChangeNotices): IamCollections {
  return { users: new Collection<UserRow>(users, db, notices), roles: new Collection<RoleRow>(roles, db, notices) };
}
