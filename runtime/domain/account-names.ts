/** Finds accounts by phone number or login; both are compared exactly, including case. */
import type { DomainName } from '../domain-name/index.ts';
import type { Directory, SipUser } from './directory.ts';

/** Whether a number or login is the account's. */
export function isNamed({ phonenumber, login }: Pick<SipUser, 'phonenumber' | 'login'>, name: string): boolean {
  return phonenumber === name || login === name;
}

/** The account with this phone number; without one, the account with this login. */
export function sipUserNamed(
  directory: Pick<Directory, 'sipUserByNumber' | 'sipUserByLogin'>,
  domain: DomainName,
  name: string,
): SipUser | undefined {
  return directory.sipUserByNumber(domain, name) ?? directory.sipUserByLogin(domain, name);
}
