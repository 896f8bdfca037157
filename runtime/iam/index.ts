/** Users, roles, sessions, the login ban, and the demo data. Opening order: see `storage/index.ts`. */
import { type LiveDirectory, noticesOf } from '../domain/index.ts';
import type { Storage } from '../storage/index.ts';
import { UserAccounts } from './accounts.ts';
import { BanFilter } from './ban-filter.ts';
import { createIamCollections } from './collections.ts';
import type { ConfirmToken } from './iam.ts';
import { IamService } from './service.ts';
import { SESSION_LIMITS, type SessionLimits, SessionStore } from './session-store.ts';

export { type Avatar, type Avatars, MAX_AVATAR_BYTES, StoredAvatars } from './avatars.ts';
export { BAN_FAILURES, BAN_WINDOW_MS } from './ban-filter.ts';
export { createIamCollections, type IamCollections, type RoleRow, type UserRow } from './collections.ts';
export {
  DEMO_PEOPLE,
  DEMO_SCENARIOS,
  createDemoData,
} from './demo-data.ts';
export {
  DEMO_DOMAIN,
  type FirstAccounts,
  FirstAccountsError,
  type MadeAccount,
  type MadeAccounts,
  MASTER_DOMAIN,
  isEmpty,
  makeAccountsOfEmptyStore,
  makeFirstAccounts,
} from './first-accounts.ts';
export { allowedBy } from './ban-filter.ts';
export { generatePassword } from './generated-password.ts';
export { ADMIN_ROLE } from './grants.ts';
export { NEW_FEATURE_CODES, USER_ROLE, featureCodesText } from './new-domain.ts';
export type { Accounts, AvatarInfo, UserProfile } from './accounts.ts';
export type { SessionSummary } from './session-rows.ts';
export type {
  Authentication,
  ConfirmedUser,
  ConfirmToken,
  Credentials,
  Iam,
  LoginResult,
  ReachableDomain,
  Session,
} from './iam.ts';
export { TokenScenarioError } from './iam.ts';
export type { IamService } from './service.ts';
export { SESSION_LIMITS, type SessionLimits } from './session-store.ts';

export interface IamOptions {
  /** Addresses and `address/prefix` networks exempt from the login ban. */
  readonly allowList?: readonly string[];
  /** Lifetimes of sessions. */
  readonly sessionLimits?: SessionLimits;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
  /** Confirms external tokens; absent: such logins are refused. */
  readonly confirmToken?: ConfirmToken | undefined;
}

export async function createIam(
  storage: Storage,
  directory: LiveDirectory,
  { allowList = [], sessionLimits = SESSION_LIMITS, now = Date.now, confirmToken }: IamOptions = {},
): Promise<IamService> {
  const sessions = new SessionStore(storage, now, sessionLimits);
  await sessions.purge();
  const ban = new BanFilter({ allowList, now });
  const collections = createIamCollections(storage.db, noticesOf(storage));
  const accounts = new UserAccounts(storage, collections, sessions);
  const iam = new IamService({ storage, directory, collections, accounts, sessions, ban, confirmToken });
  await iam.reload();
  return iam;
}
export { BlobTooLargeError } from '../storage/index.ts';
