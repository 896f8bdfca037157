/** Accounts by what others call them: a phone number or a login, each compared exactly, letter case included. */
import type { DomainName } from '../domain-name/index.ts';
import type { Directory, SipUser } from './directory.ts';

/** Whether a number or login is the account's. */
export function isNamed({ phonenumber, login }: Pick<SipUser, 'phonenumber' | 'login'>, name: string): boolean {
  return phonenumber === name || login === name;
}

/** The account of a number or, when nobody has that number, of a login. */
export function sipUserNamed(
  directory: Pick<Directory, 'sipUserByNumber' | 'sipUserByLogin'>,
  domain: DomainName,
  name: string,
): SipUser | undefined {
  return directory.sipUserByNumber(domain, name) ?? directory.sipUserByLogin(domain, name);
}
