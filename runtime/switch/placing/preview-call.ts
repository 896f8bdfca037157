import type { DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import type { CallPreview, DialledCall } from '../../runs/index.ts';
import { calleeOf } from './callee-of.ts';
import { dialRoute } from './dial-route.ts';
import { numberOf } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/** Where a call would go by the present routes and registrations. A phone may still forward it (302). */
export function previewCall(tools: SwitchTools, call: DialledCall): CallPreview {
  const { domain, dialled, callerNumber, mode = 'number', useIntercom = false } = call;
  const decision =
    callerNumber === undefined
      ? dialRoute(tools.directory, domain, dialled, { mode, useIntercom })
      : tools.directory.route(domain, callerNumber, dialled);
  const nobody = { number: dialled, domain, route: 'none', phones: 0, contacts: [] } as const;
  if (decision === undefined) return { ...nobody, reason: unrouted(tools, call) };
  if (decision.kind === 'reject') return { ...nobody, reason: `${decision.status} ${decision.reason}` };
  const featurecode = decision.featureCode && { featurecode: decision.featureCode.prefix };
  if (decision.kind === 'sipuser' || decision.kind === 'provider')
    return { ...phonesOf(tools, decision, dialled, callerNumber ?? ''), number: dialled, ...featurecode };
  return { ...nobody, ...elsewhere(decision, domain), ...featurecode };
}

/** Why a login or an intercom call has no route. */
function unrouted({ directory }: SwitchTools, { domain, dialled, mode }: DialledCall): string {
  return mode === 'sipuser' && directory.sipUserByLogin(domain, dialled) === undefined
    ? 'no sipuser has this login'
    : 'the domain has no intercom featurecode';
}

function phonesOf(
  tools: SwitchTools,
  decision: RouteDecision & { readonly kind: 'sipuser' | 'provider' },
  dialled: string,
  callerNumber: string,
): Omit<CallPreview, 'number'> {
  const isPhone = decision.kind === 'sipuser';
  const callee = calleeOf(tools, decision, { dialled, callerNumber, callerName: undefined });
  const contacts = callee?.addresses.map(({ uri }) => uri) ?? [];
  const full = callee === undefined && { reason: 'the provider is at its limit of calls' };
  const absent = contacts.length === 0 && {
    reason: isPhone ? 'no phone is registered' : 'its gateway is not registered',
  };
  return {
    route: decision.kind,
    domain: isPhone ? decision.sipuser.domain : decision.provider.domain,
    target: isPhone ? decision.sipuser.login : decision.provider.code,
    phones: callee?.inTurn === true ? 1 : contacts.length,
    contacts,
    ...(full || absent),
    ...(callee && { ownNumber: numberOf(callee.party) }),
  };
}

/** The preview of a call that goes to no phone. */
function elsewhere(
  decision: RouteDecision & { readonly kind: 'scenario' | 'conference' | 'pickup' },
  domain: DomainName,
): Pick<CallPreview, 'route' | 'domain' | 'target'> {
  switch (decision.kind) {
    case 'scenario':
      return { route: 'scenario', domain: decision.domain ?? domain, target: decision.code };
    case 'conference':
      return { route: 'conference', domain: decision.featureCode.domain, ...named(decision.room) };
    case 'pickup':
      return { route: 'pickup', domain, ...named(decision.number) };
    default:
      return decision satisfies never;
  }
}

/** A missing number means a new room, or a pickup of any ringing call. */
function named(target = ''): Pick<CallPreview, 'target'> {
  return target === '' ? {} : { target };
}
