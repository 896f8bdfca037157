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
 * Follows the two scenarios of SWITCHCONF. Each side is answered like an operation of its own; the whole when both are, or
 * as soon as one has failed. `result` is `ok` when both are, else the first failing side's, X first (decisions, "Calls").
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
        // Like everything else about the target (specification, "Response modes").
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
          // A side's scenario has a call of its own: its first milestone tells which.
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

/** What is known of one side: of one that is not answered for yet, what there is so far. */
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
  };
  const present = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [`${party.toLowerCase()}_${name}`, value]));
}
