import type { RouteDecision } from '../domain/directory.ts';
import { type Attempt, type AttemptOptions, failedAttempt } from './attempt.ts';
import { autoAnswerHeaders } from './auto-answer.ts';
import { callConference } from './call-conference.ts';
import { callThroughLoop } from './call-loop.ts';
import { callCallee, callPhones } from './call-phones.ts';
import { type Callee, sipUserCallee } from './callee.ts';
import { callScenario } from './call-scenario.ts';
import { ConferenceLeg } from './conference-leg.ts';
import { providerCallee } from './esg/provider-callee.ts';
import { IvrLeg } from './ivr-leg.ts';
import { pickUp } from './pickup.ts';
import type { SwitchTools } from './tools.ts';

/** Starts the call that a route decision asks for. */
export function placeCall(tools: SwitchTools, decision: RouteDecision, options: AttemptOptions): Attempt {
  switch (decision.kind) {
    case 'sipuser': {
      const headers =
        decision.featureCode?.type === 'intercom'
          ? { ...autoAnswerHeaders(decision.sipuser.domain), ...options.headers }
          : options.headers;
      return callPhones(tools, decision.sipuser, { ...options, headers });
    }
    case 'provider': {
      const callee = calleeOf(tools, decision, options);
      return callee === undefined ? failedAttempt(503) : callCallee(tools, callee, options);
    }
    case 'scenario':
      if (options.caller instanceof IvrLeg) return callThroughLoop(tools, decision, options);
      // A room has nothing to say to a scenario's silence: one side of a call needs media.
      if (options.caller instanceof ConferenceLeg && !options.caller.speaks) return failedAttempt(488);
      return callScenario(tools, decision.code, { ...options, domain: decision.domain ?? options.domain });
    case 'pickup':
      if (options.caller instanceof IvrLeg) return callThroughLoop(tools, decision, options);
      return pickUp(tools, decision.number, options);
    case 'conference':
      if (options.caller instanceof IvrLeg) return callThroughLoop(tools, decision, options);
      return callConference(tools, decision, options);
    case 'reject':
      return failedAttempt(decision.status, decision.reason);
    default:
      return decision satisfies never;
  }
}

/**
 * Whom a route decision means, as far as it means somebody with phones.
 * @returns undefined when it does not, and when a provider carries all the calls that it may
 */
export function calleeOf(
  tools: SwitchTools,
  decision: RouteDecision,
  { dialled, fromNumber }: Pick<AttemptOptions, 'dialled' | 'fromNumber'>,
): Callee | undefined {
  if (decision.kind === 'sipuser') {
    return sipUserCallee(decision.sipuser, tools.location.contacts(decision.sipuser.id), dialled);
  }
  if (decision.kind !== 'provider') return undefined;
  const { provider, number } = decision;
  if (provider.maxCalls > 0 && tools.dialogs.countOfProvider(provider.id) >= provider.maxCalls) return undefined;
  return providerCallee(provider, { number, caller: fromNumber }, tools.location.contacts(provider.id));
}
