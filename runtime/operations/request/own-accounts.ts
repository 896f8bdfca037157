import { type Directory, isNamed, type SipUser } from '../../domain/index.ts';
import type { Scope } from './target.ts';

/**
 * Whether an API caller may place a call as this account. The domain's path allows every account, the own-calls path only
 * the user's own.
 * @param names whether the request names this account
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
