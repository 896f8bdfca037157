import type { RouteDecision } from '../../domain/index.ts';
import type { AttemptOptions } from './attempt.ts';
import { type Callee, sipUserCallee } from '../addresses/callee.ts';
import { providerCallee } from '../esg/provider-callee.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * The callee of a route to a sipuser or to a number behind a provider.
 * @returns undefined for any other route, and for a provider at its limit of calls
 */
export function calleeOf(
  tools: SwitchTools,
  decision: RouteDecision,
  { dialled, callerNumber }: Pick<AttemptOptions, 'dialled' | 'callerNumber'>,
): Callee | undefined {
  if (decision.kind === 'sipuser') {
    return sipUserCallee(decision.sipuser, tools.location.contacts(decision.sipuser.id), dialled);
  }
  if (decision.kind !== 'provider') return undefined;
  const { provider, number } = decision;
  if (provider.maxCalls > 0 && tools.dialogs.countOfProvider(provider.id) >= provider.maxCalls) return undefined;
  const gateways = tools.gateways.order(provider);
  return providerCallee(provider, { number, callerNumber }, tools.location.contacts(provider.id), gateways);
}
