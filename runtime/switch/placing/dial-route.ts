import type { DomainName } from '../../domain-name/index.ts';
import type { Directory, RouteDecision } from '../../domain/index.ts';
import type { DialOptions } from '../../runs/index.ts';

/**
 * The route of a scenario's call, by login or by number, through the intercom featurecode if asked for.
 * @param domain of the number or login
 * @param dialled login or number, without DTMF tail
 * @returns undefined for an unknown login, and without an intercom featurecode
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
