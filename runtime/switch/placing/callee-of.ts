import type { RouteDecision } from '../../domain/index.ts';
import { type AttemptOptions, callerOf, type CallerOptions } from './attempt.ts';
import { ANONYMOUS_CALLER, type Callee, sipUserCallee } from '../addresses/callee.ts';
import { providerCallee } from '../esg/provider-callee.ts';
import { withheld, withholdsCaller } from '../legs/shown-caller.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * The callee of a route to a sipuser or to a number behind a provider.
 * @returns undefined for any other route, and for a provider at its limit of calls
 */
export function calleeOf(
  tools: SwitchTools,
  decision: RouteDecision,
  { dialled, ...given }: CallerOptions & Pick<AttemptOptions, 'dialled'>,
): Callee | undefined {
  const hides = withholdsCaller(decision);
  if (decision.kind === 'sipuser') {
    const callee = sipUserCallee(decision.sipuser, tools.location.contacts(decision.sipuser.id), dialled);
    return hides ? { ...callee, caller: ANONYMOUS_CALLER } : callee;
  }
  if (decision.kind !== 'provider') return undefined;
  const { provider, number } = decision;
  if (provider.maxCalls > 0 && tools.dialogs.countOfProvider(provider.id) >= provider.maxCalls) return undefined;
  const gateways = tools.gateways.order(provider);
  const caller = hides ? withheld(callerOf(given)) : callerOf(given);
  const contacts = tools.location.contacts(provider.id);
  return providerCallee(provider, { number, caller }, contacts, gateways, tools.gateways.serviceRoute(provider));
}
