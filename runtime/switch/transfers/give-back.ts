import type { DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import { numberOf, type Party } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * Where a number of another domain leads a scenario: back to whoever its opponent was taken from, and to nobody else. Others
 * there are reached by the routes of one's own domain.
 * @param from whom the opponent was taken from
 * @returns 403 for anybody else, and for somebody outside, who would be called at the other domain's cost
 */
export function wayBack(
  { directory }: Pick<SwitchTools, 'directory'>,
  from: Party | undefined,
  { domain, number }: { readonly domain: DomainName; readonly number: string },
): RouteDecision {
  const refused: RouteDecision = { kind: 'reject', status: 403, reason: 'Forbidden' };
  if (from === undefined || from.domain !== domain || numberOf(from) !== number) return refused;
  if (from.kind === 'sipuser') {
    // As the account is now, whatever its number means to others.
    const sipuser = directory.sipUserById(from.sipUser.id);
    return sipuser === undefined ? { kind: 'reject', status: 404, reason: 'Not Found' } : { kind: 'sipuser', sipuser };
  }
  if (from.kind !== 'ivr' && from.kind !== 'conference') return refused;
  const decision = directory.route(from.domain, undefined, number);
  return decision.kind === 'scenario' || decision.kind === 'conference' ? decision : refused;
}
