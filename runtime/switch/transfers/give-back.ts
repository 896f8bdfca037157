import type { DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import { numberOf, type Party } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * The route of a scenario's transfer to a number of another domain. It leads only to the party from which the opponent was
 * taken over. Other parties of that domain are reached by the routes of the scenario's own domain.
 * @param from the party from which the opponent was taken over
 * @returns 403 for any other party, and for one behind a provider, which would be called at the other domain's cost
 */
export function wayBack(
  { directory }: Pick<SwitchTools, 'directory'>,
  from: Party | undefined,
  { domain, number }: { readonly domain: DomainName; readonly number: string },
): RouteDecision {
  const refused: RouteDecision = { kind: 'reject', status: 403, reason: 'Forbidden' };
  if (from === undefined || from.domain !== domain || numberOf(from) !== number) return refused;
  if (from.kind === 'sipuser') {
    // By id: the domain's routes may send the number of the account elsewhere.
    const sipuser = directory.sipUserById(from.sipUser.id);
    return sipuser === undefined ? { kind: 'reject', status: 404, reason: 'Not Found' } : { kind: 'sipuser', sipuser };
  }
  if (from.kind !== 'ivr' && from.kind !== 'conference') return refused;
  const decision = directory.route(from.domain, undefined, number);
  return decision.kind === 'scenario' || decision.kind === 'conference' ? decision : refused;
}
