import type { Directory } from '../../domain/index.ts';
import type { Scope } from './target.ts';

type Account = ReturnType<Directory['sipUsersOfUser']>[number];

/**
 * Whether a caller of the API may place a call as this account. On the domain's path anybody may be named; on the own-calls path one
 * of the user's own accounts.
 * @param names whether the request names this account
 */
export function mayCallAs(
  directory: Pick<Directory, 'sipUsersOfUser'>,
  { domain, ownUserId }: Scope,
  names: (account: Account) => boolean,
): boolean {
  if (ownUserId === undefined) return true;
  return directory.sipUsersOfUser(ownUserId).some((account) => account.domain === domain && names(account));
}
