/** Ended calls. */
import { read } from '../lib/api.ts';

export interface LegMedia {
  readonly codec: string;
  readonly packets_in: number;
  readonly packets_out: number;
  readonly lost_in: number | null;
  readonly lost_out: number | null;
  readonly jitter_ms_in: number | null;
  readonly jitter_ms_out: number | null;
  readonly mos_in: number | null;
}

export interface EndedLeg {
  readonly side: 'a' | 'b';
  readonly number: string | null;
  readonly name: string | null;
  readonly kind: string;
  readonly callid: string;
  readonly sip_status: number | null;
  readonly reason: string | null;
  readonly media: LegMedia | null;
}

/** An item of `GET /uc/history`. Times are ISO 8601. */
export interface EndedCall {
  readonly id: string;
  readonly dialogid: string;
  readonly ts: number;
  readonly direction: string;
  readonly caller_number: string | null;
  readonly caller_name: string | null;
  readonly called_number: string | null;
  readonly called_name: string | null;
  readonly dialled: string | null;
  readonly trunk: string | null;
  readonly started: string;
  readonly answered: string | null;
  readonly ended: string | null;
  readonly ringing_ms: number | null;
  readonly talking_ms: number | null;
  readonly result: string;
  readonly sip_status: number | null;
  readonly reason: string | null;
  readonly ended_by: string | null;
  readonly room: string | null;
  readonly recordings: readonly string[];
  readonly runs: readonly { readonly id: string; readonly scenario: string }[];
  readonly operation: string | null;
  readonly replaced: readonly string[];
  readonly replaced_by: readonly string[];
  readonly referred_by: string | null;
  readonly labels: readonly string[];
  readonly legs: readonly EndedLeg[];
}

export interface HistorySearch {
  /** Part of a number, name or login of a party. */
  readonly text: string;
  readonly result: string;
  /** Local times as in `datetime-local`; empty: the last 24 hours. */
  readonly from: string;
  readonly to: string;
}

const MASK =
  'id,dialogid,ts,started,caller_number,caller_name,called_number,called_name,dialled,trunk,result,ended_by,talking_ms,recordings';
const SEARCHED = [
  'caller_number',
  'caller_name',
  'caller_login',
  'called_number',
  'called_name',
  'called_login',
  'dialled',
];
const MOST = 1_000;
const DAY_MS = 86_400_000;

/** Calls that fit, the latest first; at most 1000. @throws ApiError */
export function searchHistory({ text, result, from, to }: HistorySearch, path = '/uc/history'): Promise<EndedCall[]> {
  const conditions = [
    ...(text === '' ? [] : [['or', ...SEARCHED.map((field) => containsText(field, text))]]),
    ...(result === '' ? [] : [['equal', ['property', 'result'], result]]),
  ];
  return read<EndedCall[]>(path, {
    mask: MASK,
    limit: MOST,
    filter: conditions.length === 0 ? undefined : ['and', ...conditions],
    interval: from === '' && to === '' ? undefined : intervalOf(from, to),
  });
}

function containsText(field: string, text: string): unknown[] {
  return ['contains', ['lower', ['coalesce', ['property', field], '']], text.toLowerCase()];
}

function intervalOf(from: string, to: string): string[] {
  const end = to === '' ? Date.now() + DAY_MS : new Date(to).getTime();
  const begin = from === '' ? end - DAY_MS : new Date(from).getTime();
  return [new Date(begin).toISOString(), new Date(end).toISOString()];
}

/** One call, by its id or, without one, by the latest of its dialog. @throws ApiError */
export async function readEndedCall(
  id: string,
  dialogid?: string,
  path = '/uc/history',
): Promise<EndedCall | undefined> {
  if (dialogid === undefined) return read<EndedCall>(`${path}/${encodeURIComponent(id)}`);
  const [found] = await read<EndedCall[]>(path, { filter: { dialogid }, limit: 1 });
  return found;
}
