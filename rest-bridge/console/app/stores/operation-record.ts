/** Records of operations. */
import { read } from '../lib/api.ts';
import { type Live, useLive } from '../lib/use-live.ts';

export interface Milestone {
  /** `initiated`, `provisional` or `final`, after the party, as in `F_final`. */
  readonly milestone: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly last_response?: string;
  readonly dialogid?: string;
}

/** An item of `GET /uc/operations`. */
export interface OperationRecord {
  readonly id: string;
  readonly operation: string;
  readonly userid?: string;
  readonly response_mode: number;
  /** Milliseconds since the epoch. */
  readonly startts: number;
  readonly endts?: number;
  readonly milestones: readonly Milestone[];
  readonly response?: unknown;
  readonly responsets?: number;
  readonly outcome?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly block: string };
  readonly result?: string;
  readonly fields?: unknown;
}

const EVERY_MS = 1_000;

/** The record of an operation, followed until its end. @param own among those that the person asked for */
export function useOperation(id: string, own = false): Live<OperationRecord> {
  const path = own ? '/user/sip/operations' : '/uc/operations';
  return useLive(() => read<OperationRecord>(`${path}/${encodeURIComponent(id)}`), id, {
    events: ['callevents.operation_finished'],
    filter: { id },
    everyMs: EVERY_MS,
  });
}

/** Id of the newest operation that this person asked for. @throws ApiError */
export async function newestOperation(): Promise<string | undefined> {
  const order = [{ startts: 'desc' }];
  const [newest] = await read<{ id: string }[]>('/user/sip/operations', { limit: 1, mask: 'id', order });
  return newest?.id;
}
