/** Reads the history of calls as REST shows it. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { RestClient } from '../../phones/rest-client.ts';

export const HISTORY = '/rest/v1/uc/history';
export const OWN_HISTORY = '/rest/v1/user/sip/history';

export interface ShownLeg {
  readonly side: 'a' | 'b';
  readonly number: string;
  readonly login: string | null;
  readonly kind: string;
  readonly domain: string;
  readonly ringing: string | null;
  readonly answered: string | null;
  readonly ended: string | null;
  readonly sip_status: number | null;
  readonly reason: string | null;
  readonly media: {
    readonly codec: string;
    readonly packets_in: number;
    readonly packets_out: number;
    readonly lost_in: number;
    readonly lost_out: number | null;
    readonly jitter_ms_in: number;
    readonly jitter_ms_out: number | null;
    readonly mos_in: number | null;
  } | null;
}

export interface Shown {
  readonly id: string;
  readonly ts: number;
  readonly started: string;
  readonly ringing: string | null;
  readonly answered: string | null;
  readonly ended: string | null;
  readonly ringing_ms: number | null;
  readonly talking_ms: number | null;
  readonly result: string;
  readonly users: readonly string[];
  readonly legs: readonly ShownLeg[];
  readonly replaced: readonly string[];
  readonly replaced_by: readonly string[];
  readonly [field: string]: unknown;
}

/** The records since a time, oldest first. */
export async function recordsSince(rest: RestClient, from: number, path = HISTORY): Promise<Shown[]> {
  const interval = JSON.stringify([from, Date.now() + 60_000]);
  const answer = await rest.get(path, { interval, order: '["ts","id"]' });
  expect(answer.status, answer.text).to.equal(200);
  return answer.json<Shown[]>();
}

/** Waits for this number of records since a time, oldest first. */
export async function awaitRecords(rest: RestClient, from: number, count: number, path = HISTORY): Promise<Shown[]> {
  return eventually(async () => {
    const found = await recordsSince(rest, from, path);
    expect(found.map(({ id, result }) => `${id} ${result}`)).to.have.length(count);
    return found;
  }, 8000);
}
