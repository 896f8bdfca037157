/**
 * When an operation answers its caller, and with what (specification, "Response modes" and "Result values"). F is the
 * party called first, T the target.
 */
import type { Answer, Report } from '../../runs/index.ts';

export const RESPONSE_MODES = [0, 1, 2, 3, 4, 5] as const;
export type ResponseMode = (typeof RESPONSE_MODES)[number];

/** `timeout` does not occur: an unanswered call gets a local 408, which is `rejected`. */
export type OperationResult = 'ok' | 'rejected' | 'redirected' | 'error' | 'undefined';

export interface OperationResponse {
  readonly result: OperationResult;
  /** Call-ID of the call IVR -> F. */
  readonly ivrcallid: string;
  /** Call-ID of the A leg of the target dialog. */
  readonly acallid?: string;
  /** Status line of the last answer of T. */
  readonly last_response?: string;
  readonly dialogid?: string;
  /** Final SIP status of the party that failed, and its reason phrase. */
  readonly sip_status?: number;
  readonly reason?: string;
}

/** What is known of one party. */
export interface PartyState {
  readonly callid: string;
  readonly dialogid: string;
  readonly provisional?: Answer;
  readonly final?: Answer;
}

/** What is known of an operation. */
export interface OperationState {
  readonly ivrcallid: string;
  readonly f?: PartyState;
  readonly t?: PartyState;
  /** The scenario reported `finished`, or ended. */
  readonly finished: boolean;
}

export function initialState(ivrcallid: string): OperationState {
  return { ivrcallid, finished: false };
}

/** What is known after one more report of the scenario. Reports of other names change nothing. */
export function afterReport(state: OperationState, { milestone, callid, dialogid, answer }: Report): OperationState {
  if (milestone === 'finished') return { ...state, finished: true };
  const [party, stage] = milestone.split(' ');
  const key = party === 'F' ? 'f' : party === 'T' ? 't' : undefined;
  if (key === undefined) return state;
  if (stage === 'initiated') return { ...state, [key]: { callid: callid ?? '', dialogid: dialogid ?? '' } };
  const known = state[key];
  if (!known || !answer || (stage !== 'provisional' && stage !== 'final')) return state;
  return { ...state, [key]: { ...known, [stage]: answer } };
}

/** The answer to the caller, or undefined while it is too early for this mode. A failure is answered at once. */
export function respond(state: OperationState, mode: ResponseMode): OperationResponse | undefined {
  const failure = failureOf(state);
  if (failure) return failure;
  if (!REACHED[mode](state)) return undefined;
  const { ivrcallid, t } = state;
  return mode < 3 || !t
    ? { result: 'ok', ivrcallid }
    : { result: 'ok', ivrcallid, ...lastResponse(t), acallid: t.callid, dialogid: t.dialogid };
}

/**
 * How an operation ended, whichever mode its caller chose: the answer of its last mode.
 * @param last 5, or 2 for an operation that ends with F
 */
export function finalResponse(state: OperationState, last: ResponseMode): OperationResponse {
  // An end before the last milestone counts as a failure only where that milestone is missing.
  const reached = respond({ ...state, finished: false }, last) ?? respond({ ...state, finished: true }, last);
  return reached ?? { result: 'undefined', ivrcallid: state.ivrcallid };
}

/** Whether the milestone of each mode is reached. */
const REACHED: Readonly<Record<ResponseMode, (state: OperationState) => boolean>> = {
  0: ({ f }) => f !== undefined,
  1: ({ f }) => f?.provisional !== undefined || f?.final !== undefined,
  2: ({ f }) => f?.final !== undefined,
  3: ({ t }) => t?.provisional !== undefined || t?.final !== undefined,
  4: ({ t }) => t?.final !== undefined,
  5: ({ t, finished }) => finished && t?.final !== undefined,
};

function failureOf({ ivrcallid, f, t, finished }: OperationState): OperationResponse | undefined {
  if (f?.final && f.final.status >= 300) return { result: resultOfF(f, f.final), ivrcallid, ...why(f.final) };
  if (t?.final && t.final.status >= 300)
    return { result: refusal(t.final), ivrcallid, acallid: t.callid, last_response: t.final.line, ...why(t.final) };
  if (!finished || t?.final) return undefined;
  // The scenario is over without a final answer of T: F never answered, or left before the transfer.
  if (!t) return { result: 'error', ivrcallid };
  return { result: 'undefined', ivrcallid, acallid: t.callid, ...lastResponse(t) };
}

/**
 * The result of F's failure. A time-out or transport failure becomes a local 408, 503 or 480 (RFC 3261 section 8.1.3.1). If
 * F had sent nothing before, no party has answered, and the result is `error`.
 */
function resultOfF({ provisional }: PartyState, final: Answer): OperationResult {
  const { status, local, unreached } = final;
  const silent = provisional === undefined && local && (status === 408 || status === 503 || unreached === true);
  return silent ? 'error' : refusal(final);
}

function refusal({ status }: Answer): OperationResult {
  return status < 400 ? 'redirected' : 'rejected';
}

/** What tells busy, absent and unknown parties apart. */
type Why = Pick<OperationResponse, 'sip_status' | 'reason'>;

/** Absent unless a party failed. */
export function whyOf({ sip_status, reason }: Why): Why {
  return { ...(sip_status !== undefined && { sip_status }), ...(reason !== undefined && { reason }) };
}

function why({ status, reason }: Answer): Why {
  return { sip_status: status, reason };
}

function lastResponse({ provisional, final }: PartyState): { last_response?: string } {
  const line = (final ?? provisional)?.line;
  return line === undefined ? {} : { last_response: line };
}
