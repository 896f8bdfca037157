import { type Directory, isNamed, type SipUser } from '../../domain/index.ts';
import type { Scope } from './target.ts';

/**
 * Whether a caller of the API may place a call as this account. On the domain's path anybody may be named; on the own-calls path one
 * of the user's own accounts.
 * @param name as the request names the account
 * @param kind what `name` is: a number, the login of a sipuser, or either
 */
export function mayCallAs(
  directory: Pick<Directory, 'sipUsersOfUser'>,
  { domain, ownUserId }: Scope,
  name: string,
  kind: 'number' | 'sipuser' | 'either',
): boolean {
  if (ownUserId === undefined) return true;
  return directory
    .sipUsersOfUser(ownUserId)
    .some((account) => account.domain === domain && isNamedAs[kind](account, name));
}

const isNamedAs = {
  number: ({ phonenumber }: SipUser, name: string) => phonenumber === name,
  sipuser: ({ login }: SipUser, name: string) => login === name,
  either: isNamed,
};
