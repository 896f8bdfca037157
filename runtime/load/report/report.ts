/** The report of a run, as plain data: what `--json` writes. */
import { formatHostPort } from '../../embedded/stack/index.ts';
import type { CallRecord } from '../calls/record.ts';
import type { Received } from '../media/reception.ts';
import { rampMs } from '../plan.ts';
import type { Outcome } from '../run.ts';
import { tenth, type Times, timesOf } from './percentiles.ts';
import { type Moment, timelineOf } from './timeline.ts';

/** Calls with the same reason of failure. */
export interface FailureCount {
  /** E.g. `refused: 486 Busy Here`. */
  readonly reason: string;
  readonly calls: number;
}

/** Sound that one side received. */
export interface ReceivedReport extends Received {
  /** Per cent of the packets that were sent to it. */
  readonly lostPercent: number;
  readonly latePercent: number;
}

export interface LoadReport {
  readonly began: string;
  readonly seconds: number;
  /** `host:port` of the SIP server. */
  readonly sip: string;
  readonly domain: string;
  readonly kind: 'phones' | 'number' | 'originate';
  /** One line about what was called. */
  readonly what: string;
  readonly isStopped: boolean;
  /** At most `maxFailures` calls failed, and every phone was registered. */
  readonly passed: boolean;
  readonly maxFailures: number;
  /** `cutShort`: ended by the end of the run; neither good nor failed. */
  readonly calls: {
    readonly tried: number;
    readonly answered: number;
    readonly good: number;
    readonly failed: number;
    readonly cutShort: number;
  };
  readonly failures: readonly FailureCount[];
  /** Phones that could not register, e.g. `alice: 403 Forbidden`. */
  readonly unregistered: readonly string[];
  /** Calls started a second. */
  readonly rate: { readonly from: number; readonly to: number; readonly achieved: number };
  readonly mostLive: number;
  /** Calls that had to wait for the end of another because of `--live`. */
  readonly heldBack: number;
  /** Milliseconds from INVITE, or of originated calls from the request. */
  readonly setup: {
    readonly ringing: Times | undefined;
    readonly answered: Times | undefined;
    readonly sound: Times | undefined;
  };
  /** Calls whose sound was listened to, and those of them in which it was right. */
  readonly sound: { readonly checked: number; readonly right: number };
  readonly received: { readonly caller: ReceivedReport; readonly called: ReceivedReport };
  /** This program's own punctuality: packets that it sent, and sent more than 10 ms late. */
  readonly sender: { readonly packets: number; readonly latePercent: number; readonly worstMs: number };
  readonly timeline: readonly Moment[];
}

/** @param maxFailures calls that may fail */
export function reportOf(outcome: Outcome, maxFailures: number): LoadReport {
  const { plan, records, received, sent } = outcome;
  const failed = records.filter(({ failure }) => failure !== undefined);
  const cutShort = records.filter(({ isCutShort }) => isCutShort === true);
  const answered = records.filter((record) => record.answered !== undefined);
  const unregistered = outcome.unregistered.map(({ login, status, reason }) =>
    status === undefined ? `${login}: no answer (${reason})` : `${login}: ${status} ${reason}`,
  );
  const timeline = timelineOf(records, outcome.ms);
  const checked = answered.filter(({ isChecked, isCutShort }) => isChecked && isCutShort !== true);
  const setup = (of: 'ringing' | 'answered' | 'sound') =>
    timesOf(records.flatMap((record) => (record[of] === undefined ? [] : [record[of]])));
  return {
    began: outcome.began.toISOString(),
    seconds: tenth(outcome.ms / 1000),
    sip: formatHostPort(plan.sip.host, plan.sip.port),
    domain: plan.domain,
    kind: plan.originate === undefined ? plan.callee.kind : 'originate',
    what: whatOf(outcome),
    isStopped: outcome.isStopped,
    passed: failed.length <= maxFailures && unregistered.length === 0,
    maxFailures,
    calls: {
      tried: records.length,
      answered: answered.length,
      good: records.length - failed.length - cutShort.length,
      failed: failed.length,
      cutShort: cutShort.length,
    },
    failures: failuresOf(failed, heardOneWay(outcome)),
    unregistered,
    rate: { ...plan.rate, achieved: achieved(records, rampMs(plan)) },
    mostLive: Math.max(0, ...timeline.map(({ live }) => live)),
    heldBack: outcome.heldBack,
    setup: { ringing: setup('ringing'), answered: setup('answered'), sound: setup('sound') },
    sound: { checked: checked.length, right: checked.filter((record) => !isSoundFailure(record)).length },
    received: { caller: receivedOf(received.caller), called: receivedOf(received.called) },
    sender: { packets: sent.all, latePercent: percent(sent.late, sent.all), worstMs: tenth(sent.worstMs) },
    timeline,
  };
}

function whatOf({ plan }: Outcome): string {
  const names = (accounts: readonly { readonly login: string }[]): string =>
    accounts.length > 3 ? `${accounts.length} phones` : accounts.map(({ login }) => login).join(', ');
  const { callee } = plan;
  const called = callee.kind === 'number' ? callee.number : (callee.dial ?? names(callee.accounts));
  const verb = plan.originate === undefined ? 'calls' : 'is connected by REST with';
  return `${names(plan.callers)} ${verb} ${called}`;
}

/** @param oneWay calls without sound at the caller in which the called phone heard it */
function failuresOf(failed: readonly CallRecord[], oneWay: number): FailureCount[] {
  const counts = new Map<string, number>();
  let left = oneWay;
  for (const { failure } of failed) {
    if (failure === undefined) continue;
    const isOneWay = failure.kind === 'no sound' && left > 0;
    if (isOneWay) left -= 1;
    const reason = isOneWay ? 'one-way: the caller is heard, and hears nothing' : `${failure.kind}: ${failure.detail}`;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, calls]) => ({ reason, calls })).toSorted((a, b) => b.calls - a.calls);
}

/**
 * Calls in which the called phone heard the caller, and the caller did not hear the answer. A called phone does not know
 * which call of a caller it has, so they are counted, and only where every call is checked.
 */
function heardOneWay({ plan, records, called }: Outcome): number {
  if (plan.callee.kind !== 'phones' || plan.soundEvery !== 1) return 0;
  return Math.max(0, called.heard - records.filter(({ isHeard }) => isHeard === true).length);
}

const SOUND_KINDS: ReadonlySet<string> = new Set(['no sound', 'one-way', 'wrong sound', 'no media']);

function isSoundFailure({ failure }: CallRecord): boolean {
  return failure !== undefined && SOUND_KINDS.has(failure.kind);
}

/** Starts a second between the first and the last. */
function achieved(records: readonly CallRecord[], planned: number): number {
  const first = records[0];
  const last = records.at(-1);
  if (first === undefined || last === undefined) return 0;
  const ms = last.startMs - first.startMs;
  return tenth(ms === 0 ? records.length / Math.max(1, planned / 1000) : ((records.length - 1) * 1000) / ms);
}

function receivedOf(received: Received): ReceivedReport {
  const { packets, lost, late, jitterMs } = received;
  return {
    ...received,
    jitterMs: tenth(jitterMs),
    lostPercent: percent(lost, packets + lost),
    latePercent: percent(late, packets),
  };
}

/** With two digits. */
function percent(part: number, all: number): number {
  return all === 0 ? 0 : Math.round((10_000 * part) / all) / 100;
}
