/** Whom a called party sees as its caller. */
import { ANONYMOUS, ANONYMOUS_NAME, plainUri } from '../../signalling/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import type { CallingLeg, Leg } from './leg.ts';
import { nameOf, numberOf, type Party } from './party.ts';

export interface CallerName {
  readonly number: string;
  readonly name: string | undefined;
}

/** A caller as others see it. */
export interface ShownCaller extends CallerName {
  /** Who it is, for providers that take asserted identities, where the caller withholds the number. */
  readonly asserted?: CallerName | undefined;
}

/** The caller of a leg. */
export function shownCaller(leg: { readonly party: Party; readonly shownAs?: ShownCaller | undefined }): ShownCaller {
  return leg.shownAs ?? { number: numberOf(leg.party), name: nameOf(leg.party) };
}

/** A party as the other phone and those who watch it see it: a withheld number is withheld. */
export function shownParty(leg: Leg): { readonly uri: string; readonly name: string | undefined } {
  const { number, name } = shownCaller('shownAs' in leg ? (leg as CallingLeg) : { party: leg.party });
  const host = number === ANONYMOUS ? 'anonymous.invalid' : leg.party.domain;
  return { uri: plainUri(number, host), name };
}

/** The same caller, anonymous. */
export function withheld({ number, name, asserted }: ShownCaller): ShownCaller {
  const known = asserted ?? (number === ANONYMOUS ? undefined : { number, name });
  return { number: ANONYMOUS, name: ANONYMOUS_NAME, ...(known && { asserted: known }) };
}

/** True when the number was dialled with a featurecode that withholds the caller's number. */
export function withholdsCaller(decision: RouteDecision): boolean {
  return decision.kind !== 'reject' && decision.featureCode?.type === 'clir';
}
