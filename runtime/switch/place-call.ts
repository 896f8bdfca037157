import type { RouteDecision } from '../domain/index.ts';
import { type Attempt, type AttemptOptions, callerOf, callerOptions, failedAttempt } from './placing/attempt.ts';
import { autoAnswerHeaders } from './placing/auto-answer.ts';
import { callConference } from './placing/call-conference.ts';
import { callThroughLoop } from './placing/call-loop.ts';
import { observeTrunkCall } from './placing/call-observer.ts';
import { callCallee } from './placing/call-phones.ts';
import { callScenario } from './scenarios/call-scenario.ts';
import { calleeOf } from './placing/callee-of.ts';
import { ConferenceLeg } from './legs/conference-leg.ts';
import { IvrLeg } from './legs/ivr-leg.ts';
import { withheld, withholdsCaller } from './legs/shown-caller.ts';
import { pickUp } from './placing/pickup.ts';
import type { SwitchTools } from './tools.ts';

/**
 * Starts the call of a route decision. Other files use `SwitchTools.placeCall`, because the parties that are called here
 * place calls in turn.
 */
export function placeCall(tools: SwitchTools, decision: RouteDecision, given: AttemptOptions): Attempt {
  const options = withholdsCaller(decision) ? { ...given, ...callerOptions(withheld(callerOf(given))) } : given;
  switch (decision.kind) {
    case 'sipuser':
    case 'provider': {
      const callee = calleeOf(tools, decision, options);
      const headers = { ...intercomHeaders(decision), ...options.headers };
      const attempt = callee === undefined ? failedAttempt(503) : callCallee(tools, callee, { ...options, headers });
      if (decision.kind === 'provider') observeTrunkCall(tools, decision.provider, 'out', attempt);
      return attempt;
    }
    case 'scenario':
      if (options.caller instanceof IvrLeg) return callThroughLoop(tools, decision, options);
      // A scenario has no media, and a conference has some only with a voice: one side of a call needs media.
      if (options.caller instanceof ConferenceLeg && !options.caller.speaks) return failedAttempt(488);
      if (!tools.runsScenarios) return tools.others?.callScenario(decision, options) ?? failedAttempt(503);
      return callScenario(tools, decision, { ...options, domain: decision.domain ?? options.domain });
    case 'pickup':
      if (options.caller instanceof IvrLeg) return callThroughLoop(tools, decision, options);
      return tools.others?.pickUp(decision, options) ?? pickUp(tools, decision.number, options);
    case 'conference':
      if (options.caller instanceof IvrLeg) return callThroughLoop(tools, decision, options);
      if (tools.others !== undefined) return tools.others.callRoom(decision, options);
      return tools.keepsRooms ? callConference(tools, decision, options) : failedAttempt(503);
    case 'reject':
      return failedAttempt(decision.status, decision.reason);
    default:
      return decision satisfies never;
  }
}

function intercomHeaders(decision: RouteDecision): Readonly<Record<string, string>> {
  const isIntercom = decision.kind === 'sipuser' && decision.featureCode?.type === 'intercom';
  return isIntercom ? autoAnswerHeaders(decision.sipuser.domain) : {};
}
