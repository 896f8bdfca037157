/** Routes dialled strings in the order documented at `Directory.route`. */
import type { FeatureCode, RouteDecision, RouteTarget } from '../directory.ts';
import type { DomainSpace } from './domain-space.ts';
import { reasonPhrase } from '../../sip-facts/index.ts';

export function reject(status: number): RouteDecision {
  return { kind: 'reject', status, reason: reasonPhrase(status) };
}

/**
 * Decides by featurecode, then number, then login, then routes.
 *
 * @param callerNumber the caller's number or login; undefined for calls from the platform
 * @param dialled user part of the dialled URI, unescaped
 */
export function route(
  space: DomainSpace,
  callerNumber: string | undefined,
  dialled: string,
  others: OtherDomains = () => undefined,
): RouteDecision {
  for (const featureCode of space.featureCodesOf(dialled)) {
    const rest = dialled.slice(featureCode.prefix.length);
    const decision = featureRouting[featureCode.type](space, callerNumber, featureCode, rest, others);
    // A shorter prefix may match when this one is unusable.
    if (decision !== undefined) return decision;
  }
  return routeNumber(space, callerNumber, dialled, others);
}

/** Finds the target domain of a route. */
export type OtherDomains = (domain: string) => DomainSpace | undefined;

/** Applies a featurecode to the rest of the dialled string; undefined when its type cannot use it. */
type FeatureRouting = (
  space: DomainSpace,
  callerNumber: string | undefined,
  featureCode: FeatureCode,
  rest: string,
  others: OtherDomains,
) => RouteDecision | undefined;

const routeIntercom: FeatureRouting = (space, callerNumber, featureCode, rest, others) => {
  if (rest === '') return undefined;
  const decision = routeNumber(space, callerNumber, rest, others);
  return decision.kind === 'reject' || decision.kind === 'pickup' ? decision : { ...decision, featureCode };
};

/** `*31<number>` calls the number without showing the caller's. */
const routeWithheld: FeatureRouting = (space, callerNumber, featureCode, rest, others) => {
  if (rest === '') return undefined;
  const decision = routeNumber(space, callerNumber, rest, others);
  return decision.kind === 'reject' ? decision : { ...decision, featureCode };
};

/** The prefix alone requests a new room (decisions, "confroomnum"). */
const routeConference: FeatureRouting = (_space, _callerNumber, featureCode, rest) =>
  /^\d*$/.test(rest) ? { kind: 'conference', room: rest, featureCode } : undefined;

/** `*55<number>` runs the scenario of this number's route, `*55<code>` the one with this code. */
const routeScenario: FeatureRouting = (space, callerNumber, featureCode, rest) => {
  const ofNumber = space.routes.find(callerNumber, rest)?.target;
  if (ofNumber?.type === 'scenario') return { ...scenario(ofNumber), featureCode };
  const { code } = featureCode.opts;
  const named = rest === '' && typeof code === 'string' ? code : rest;
  return named === '' ? undefined : { kind: 'scenario', code: named, featureCode };
};

function scenario({ code, language }: RouteTarget & { readonly type: 'scenario' }): RouteDecision & {
  readonly kind: 'scenario';
} {
  return { kind: 'scenario', code, ...(language === undefined ? {} : { language }) };
}

const featureRouting: Readonly<Record<FeatureCode['type'], FeatureRouting>> = {
  intercom: routeIntercom,
  clir: routeWithheld,
  conference: routeConference,
  ivr: routeScenario,
  pickup: (_space, _callerNumber, featureCode, rest) => ({
    kind: 'pickup',
    number: rest === '' ? undefined : rest,
    featureCode,
  }),
};

function routeNumber(
  space: DomainSpace,
  callerNumber: string | undefined,
  dialled: string,
  others: OtherDomains,
): RouteDecision {
  const sipuser = space.byNumber(dialled) ?? space.byLogin(dialled);
  if (sipuser !== undefined) return { kind: 'sipuser', sipuser };
  const target = space.routes.find(callerNumber, dialled)?.target;
  if (target === undefined) return reject(404);
  switch (target.type) {
    case 'scenario':
      return scenario(target);
    case 'provider': {
      const provider = space.provider(target.code);
      return provider?.enabled === true ? { kind: 'provider', provider, number: dialled } : reject(503);
    }
    case 'domain':
      return routeAbroad(others(target.domain), callerNumber, dialled.slice(target.strip ?? 0));
    case 'reject':
      return reject(target.status);
    default:
      return target satisfies never;
  }
}

/**
 * Routes the number in another domain, without its featurecodes: people and scenarios there can be called, but neither
 * external numbers at its cost nor a third domain.
 */
function routeAbroad(space: DomainSpace | undefined, callerNumber: string | undefined, number: string): RouteDecision {
  if (space === undefined || number === '') return reject(404);
  const decision = routeNumber(space, callerNumber, number, () => undefined);
  if (decision.kind === 'scenario') return { ...decision, domain: space.domain.name };
  return decision.kind === 'provider' ? reject(403) : decision;
}
