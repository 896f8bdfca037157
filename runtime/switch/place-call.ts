import type { RouteDecision } from '../domain/directory.ts';
import { type Attempt, type AttemptOptions, failedAttempt } from './attempt.ts';
import { autoAnswerHeaders } from './auto-answer.ts';
import { callConference } from './call-conference.ts';
import { callCallee, callPhones } from './call-phones.ts';
import { callScenario } from './call-scenario.ts';
import { providerCallee } from './esg/provider-callee.ts';
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
      const { provider, number } = decision;
      if (provider.maxCalls > 0 && tools.dialogs.countOfProvider(provider.id) >= provider.maxCalls) {
        return failedAttempt(503);
      }
      const trunkCall = { number, caller: options.fromNumber };
      return callCallee(tools, providerCallee(provider, trunkCall, tools.location.contacts(provider.id)), options);
    }
    case 'scenario':
      // A scenario has nothing to say to another scenario's silence: one side of a call needs media.
      if (options.caller.party.kind === 'ivr' || options.caller.party.kind === 'conference') return failedAttempt(488);
      return callScenario(tools, decision.code, options);
    case 'conference':
      return callConference(tools, decision, options);
    case 'reject':
      return failedAttempt(decision.status, decision.reason);
    default:
      return decision satisfies never;
  }
}
