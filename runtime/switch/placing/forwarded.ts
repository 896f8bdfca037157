/** Reads redirections by called phones. */
import type { DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import { parseSipUri } from '../../signalling/index.ts';
import { type Callee, sipUserCallee } from '../addresses/callee.ts';
import { calleeOf } from './callee-of.ts';
import { nameOf, numberOf } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/** A scenario or a room to which a phone forwards a call. */
export interface ForwardedAway {
  readonly decision: RouteDecision & { readonly kind: 'scenario' | 'conference' };
  readonly dialled: string;
  readonly domain: DomainName;
}

/** The targets to which a phone forwards a call (3xx). */
export interface Forwarded {
  /** Callees to call in its place, and the number of each. */
  readonly callees: readonly { readonly callee: Callee; readonly dialled: string }[];
  /** The first scenario or room among the targets. It gets the call when no phone answers. */
  readonly away: ForwardedAway | undefined;
}

/**
 * Reads a redirection. A sipuser may forward to whatever it could dial. A provider may forward to accounts only, because
 * an outside party must not place calls at the domain's cost. Foreign addresses are dropped.
 * @param contacts URIs of the answer's Contact headers
 */
export function forwardedBy(tools: SwitchTools, { party }: Callee, contacts: readonly string[]): Forwarded {
  const callees: { callee: Callee; dialled: string }[] = [];
  let away: ForwardedAway | undefined;
  const { domain } = party;
  const own = party.kind === 'sipuser';
  for (const contact of contacts) {
    const { user = '', host = '' } = parseSipUri(contact) ?? {};
    if (user === '' || !tools.isHere(host, domain)) continue;
    const callerNumber = numberOf(party);
    const decision = tools.directory.route(domain, callerNumber, user);
    if (decision.kind === 'sipuser') {
      const { sipuser } = decision;
      const callee = sipUserCallee(sipuser, tools.location.contacts(sipuser.id));
      callees.push({ callee, dialled: sipuser.phonenumber });
    } else if (own && (decision.kind === 'scenario' || decision.kind === 'conference')) {
      away ??= { decision, dialled: user, domain };
    } else if (own) {
      const callee = calleeOf(tools, decision, { dialled: user, callerNumber, callerName: nameOf(party) });
      if (callee !== undefined) callees.push({ callee, dialled: user });
    }
  }
  return { callees, away };
}
