/** The first accounts of a store: the master domain, a domain with featurecodes, its administrator, and phones. */
import { type Kysely, sql } from 'kysely';
import { createCollections, InvalidFieldError, noticesOf } from '../domain/index.ts';
import { domainKey } from '../domain-name/index.ts';
import type { ChangeNotices, Schema, Storage } from '../storage/index.ts';
import { createIamCollections } from './collections.ts';
import { generatePassword } from './generated-password.ts';
import { ADMIN_ROLE } from './grants.ts';
import { NEW_FEATURE_CODES, USER_ROLE } from './new-domain.ts';

export const MASTER_DOMAIN = 'master';
/** Its accounts have public passwords. */
export const DEMO_DOMAIN = 'demo.local';

/** Held while the first data of a store are made; arbitrary, but different from other locks of the database. */
const FIRST_DATA_LOCK = 7_043_551;

/** Of the administrator's password, in characters. */
const MIN_PASSWORD = 8;

/** Accounts to make. */
export interface FirstAccounts {
  readonly domain: string;
  readonly admin: NewAccount;
  /** `login` is the number too. */
  readonly sipusers: readonly NewAccount[];
}

export interface NewAccount {
  readonly login: string;
  /** Absent: one is generated. */
  readonly pwd?: string | undefined;
}

/** An account that was made, with its password, or that was there before. */
export type MadeAccount =
  | { readonly login: string; readonly made: true; readonly pwd: string }
  | { readonly login: string; readonly made: false };

export interface MadeAccounts {
  readonly domain: { readonly name: string; readonly made: boolean };
  readonly admin: MadeAccount;
  readonly sipusers: readonly MadeAccount[];
}

/** A store in which these accounts cannot be made. */
export class FirstAccountsError extends Error {
  override readonly name = 'FirstAccountsError';
}

/** True when no domain exists: the store is new. */
export async function isEmpty(storage: Storage): Promise<boolean> {
  return await hasNoDomain(storage.db);
}

/**
 * Fills an empty store in one transaction. Does nothing when the store has data, or another node was first.
 *
 * @returns true when the store was empty
 */
export async function fillEmpty(storage: Storage, fill: (db: Kysely<Schema>) => Promise<void>): Promise<boolean> {
  return await storage.db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${FIRST_DATA_LOCK})`.execute(db);
    if (!(await hasNoDomain(db))) return false;
    await fill(db);
    return true;
  });
}

/**
 * Makes those of the accounts that are missing, in one transaction; nodes on the database are told. What is there stays
 * as it is.
 *
 * @throws FirstAccountsError when the administrator's password is short, the store has demo data, the domain is the master
 *   domain, or the login belongs to a user who is no administrator
 * @throws InvalidFieldError, DuplicateError for values that the collections refuse; nothing is made then
 */
export async function makeFirstAccounts(storage: Storage, wanted: FirstAccounts): Promise<MadeAccounts> {
  return await storage.db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${FIRST_DATA_LOCK})`.execute(db);
    return await makeMissing(db, noticesOf(storage), wanted);
  });
}

/** Makes the accounts in an empty store; else does nothing. Errors as for {@link makeFirstAccounts}. */
export async function makeAccountsOfEmptyStore(storage: Storage, wanted: FirstAccounts): Promise<boolean> {
  return await fillEmpty(storage, async (db) => void (await makeMissing(db, noticesOf(storage), wanted)));
}

async function makeMissing(
  db: Kysely<Schema>,
  notices: ChangeNotices | undefined,
  wanted: FirstAccounts,
): Promise<MadeAccounts> {
  checkPassword(wanted.admin);
  const { domains, sipusers, featurecodes } = createCollections(db, { notices });
  const { users, roles } = createIamCollections(db, notices);

  const present = await db.selectFrom('domains').select(['id', 'name', 'is_master']).execute();
  if (present.some(({ name }) => domainKey(name) === DEMO_DOMAIN)) {
    throw new FirstAccountsError('The store has the demo accounts, whose passwords are public; use an empty store.');
  }
  const master = present.find((domain) => domain.is_master);
  if (domainKey(wanted.domain) === domainKey(master?.name ?? MASTER_DOMAIN)) {
    throw new FirstAccountsError(`${wanted.domain} is the master domain, above all others; name another domain.`);
  }
  const parent_id = master?.id ?? (await domains.create({ name: MASTER_DOMAIN, is_master: true })).id;
  // Who comes later administers a domain of their own, not those of others.
  const reach = master === undefined ? [parent_id] : [];
  const known = present.find(({ name }) => domainKey(name) === domainKey(wanted.domain));
  const domain = known ?? (await domains.create({ name: wanted.domain, parent_id }));
  const domain_id = domain.id;
  if (known === undefined) {
    for (const featureCode of NEW_FEATURE_CODES) await featurecodes.create({ domain_id, ...featureCode });
  }

  const role = db.selectFrom('roles').select('id').where('domain_id', '=', domain_id);
  if ((await role.where('code', '=', USER_ROLE.code).executeTakeFirst()) === undefined) {
    await roles.create({ domain_id, ...USER_ROLE });
  }

  const user = db.selectFrom('users').select('roles').where('domain_id', '=', domain_id);
  const before = await user.where('login', '=', wanted.admin.login).executeTakeFirst();
  if (before !== undefined && !before.roles.includes(ADMIN_ROLE)) {
    throw new FirstAccountsError(
      `${wanted.admin.login} is a user of ${domain.name} without the role ${ADMIN_ROLE}; choose another login.`,
    );
  }
  const admin = await missing(wanted.admin, before !== undefined, ({ login, pwd }) =>
    users.create({ domain_id, login, pwd, name: 'Administrator', roles: [ADMIN_ROLE], domains: reach }),
  );

  const phones = await db.selectFrom('sipusers').select(['login']).where('domain_id', '=', domain_id).execute();
  const logins = new Set(phones.map(({ login }) => login));
  const made: MadeAccount[] = [];
  for (const account of wanted.sipusers) {
    made.push(
      await missing(account, logins.has(account.login), ({ login, pwd }) =>
        sipusers.create({ domain_id, login, phonenumber: login, pwd }).catch((error: unknown) => {
          if (!(error instanceof InvalidFieldError)) throw error;
          throw new FirstAccountsError(`the phone ${login}, whose login is its number: ${error.message}`);
        }),
      ),
    );
  }
  return { domain: { name: domain.name, made: known === undefined }, admin, sipusers: made };
}

function checkPassword({ pwd }: NewAccount): void {
  if (pwd !== undefined && pwd.length < MIN_PASSWORD) {
    throw new FirstAccountsError(
      `The administrator's password has ${pwd.length} characters; expected at least ${MIN_PASSWORD}.`,
    );
  }
}

async function missing(
  { login, pwd = generatePassword() }: NewAccount,
  isThere: boolean,
  make: (account: { login: string; pwd: string }) => Promise<unknown>,
): Promise<MadeAccount> {
  if (isThere) return { login, made: false };
  await make({ login, pwd });
  return { login, made: true, pwd };
}

async function hasNoDomain(db: Kysely<Schema>): Promise<boolean> {
  const first = await db.selectFrom('domains').select('id').limit(1).execute();
  return first.length === 0;
}
