/** Whom a phone's call shows as its caller. */
import type { Directory, SipUser } from '../../domain/index.ts';
import { type IncomingInvite, listValues, parseSipUri, withholdsIdentity } from '../../signalling/index.ts';
import { type CallerName, type ShownCaller, withheld } from '../legs/shown-caller.ts';

/**
 * The caller that a phone asks to be shown as: another account of its owner (P-Preferred-Identity, RFC 3325 section 9.2), or
 * nobody (Privacy, an anonymous From). A number that the owner does not have is ignored, and so is P-Asserted-Identity:
 * phones are outside of the trust domain.
 * @returns undefined for the account as it is
 */
export function phoneIdentity(
  directory: Pick<Directory, 'sipUsersOfUser'>,
  sipUser: SipUser,
  invite: Pick<IncomingInvite, 'header'>,
): ShownCaller | undefined {
  const preferred = preferredAccount(directory, sipUser, invite.header('P-Preferred-Identity') ?? '');
  const shown: CallerName = preferred ?? { number: sipUser.phonenumber, name: sipUser.name };
  if (withholdsIdentity(invite.header('Privacy'), invite.header('From') ?? '')) return withheld(shown);
  return preferred;
}

function preferredAccount(
  directory: Pick<Directory, 'sipUsersOfUser'>,
  sipUser: SipUser,
  header: string,
): CallerName | undefined {
  const { userId, domain } = sipUser;
  const others = userId === undefined ? [] : directory.sipUsersOfUser(userId);
  const users = listValues(header).map((value) => parseSipUri(value)?.user);
  const account = others.find(
    (own) => own.domain === domain && own.phonenumber !== '' && isNamed(own, users) && own.id !== sipUser.id,
  );
  return account && { number: account.phonenumber, name: account.name };
}

function isNamed({ login, phonenumber }: SipUser, users: readonly (string | undefined)[]): boolean {
  return users.includes(login) || users.includes(phonenumber);
}
