/** Makes the answer of SWITCHCONF from the milestones of its two scenarios. */
import type { Value } from '../../language/index.ts';
import type { OperationPlan } from '../definition.ts';
import {
  afterReport,
  finalResponse,
  initialState,
  type OperationResponse,
  type OperationState,
  respond,
  type ResponseMode,
} from './response.ts';

/** The parties of SWITCHCONF: X called, Y was called. */
const PARTIES = ['X', 'Y'] as const;
type PartyName = (typeof PARTIES)[number];

/**
 * Follows the two scenarios of SWITCHCONF, each side like an operation of its own. The caller is answered when both sides
 * are, or as soon as one has failed. `result` is `ok`, or that of the failed side, X before Y (decisions, "Calls").
 */
export function switchProgress(
  mode: ResponseMode,
  asked: { readonly dialogid: string; readonly referto: string },
): NonNullable<OperationPlan['progress']> {
  return () => {
    const states: Record<PartyName, OperationState> = { X: initialState(''), Y: initialState('') };
    let confid: string | undefined;
    const answered = (
      at: ResponseMode,
      response: (state: OperationState) => OperationResponse | undefined,
    ): Readonly<Record<string, Value>> | undefined => {
      const sides = PARTIES.map((party) => response(states[party]));
      const failed = sides.find((side) => side !== undefined && side.result !== 'ok');
      if (failed === undefined && !sides.every(Boolean)) return undefined;
      return {
        ...asked,
        result: failed?.result ?? 'ok',
        // Fields of the target are answered from mode 3 on (specification, "Response modes").
        ...(confid === undefined || at < 3 ? {} : { confid }),
        ...Object.assign({}, ...PARTIES.map((party, index) => sideFields(party, states[party], sides[index]))),
      };
    };
    return {
      report: (report) => {
        const { milestone, callid, fields } = report;
        const known = fields?.['confid'];
        if (typeof known === 'string' && known !== '') confid = known;
        for (const party of PARTIES) {
          if (milestone === 'finished') states[party] = afterReport(states[party], report);
          if (!milestone.startsWith(party)) continue;
          const own = milestone.slice(party.length);
          // The scenario of each side has its own call, which its first milestone names.
          const state =
            own === 'F initiated' && callid !== undefined ? { ...states[party], ivrcallid: callid } : states[party];
          states[party] = afterReport(state, { ...report, milestone: own });
        }
      },
      answer: () => answered(mode, (state) => respond(state, mode)),
      // After the end each side has an answer.
      final: () => answered(5, (state) => finalResponse(state, 5)) ?? asked,
    };
  };
}

/** The fields of one side. A side without an answer has only those that are known already. */
function sideFields(
  party: PartyName,
  { ivrcallid, t }: OperationState,
  response: OperationResponse | undefined,
): Readonly<Record<string, Value>> {
  const known = response ?? { ivrcallid, ...(t === undefined ? {} : { acallid: t.callid }) };
  const fields = {
    ivrcallid: known.ivrcallid === '' ? undefined : known.ivrcallid,
    new_acallid: known.acallid,
    new_last_response: 'last_response' in known ? known.last_response : undefined,
    new_dialogid: 'dialogid' in known ? known.dialogid : undefined,
    sip_status: 'sip_status' in known ? known.sip_status : undefined,
    reason: 'reason' in known ? known.reason : undefined,
  };
  const present = Object.entries(fields).filter((entry): entry is [string, string | number] => entry[1] !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [`${party.toLowerCase()}_${name}`, value]));
}
