import type { DomainName } from '../../domain-name/index.ts';
import type { Directory, RouteDecision } from '../../domain/index.ts';
import type { DialOptions } from '../../runs/index.ts';

/**
 * Where a scenario's call goes: by login or by number, through the intercom featurecode where asked.
 * @param domain whose numbers and logins they are
 * @param dialled login or number, without DTMF tail
 * @returns undefined when there is no such login, or no intercom
 */
export function dialRoute(
  directory: Directory,
  domain: DomainName,
  dialled: string,
  { mode, useIntercom }: Pick<DialOptions, 'mode' | 'useIntercom'>,
): RouteDecision | undefined {
  const sipuser = mode === 'sipuser' ? directory.sipUserByLogin(domain, dialled) : undefined;
  if (mode === 'sipuser' && sipuser === undefined) return undefined;
  const number = sipuser?.phonenumber ?? dialled;
  if (!useIntercom) return directory.route(domain, undefined, number);
  const intercom = directory.featureCode(domain, 'intercom');
  return intercom === undefined ? undefined : directory.route(domain, undefined, intercom.prefix + number);
}
