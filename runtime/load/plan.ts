/** What a load does. */

/** A phone account of the node. */
export interface Account {
  readonly login: string;
  readonly password: string;
}

/** Whom the callers call. */
export type Callee =
  /** Phones of the load. They answer the tone of a caller with the tone that belongs to it. */
  | {
      readonly kind: 'phones';
      readonly accounts: readonly Account[];
      /** The number that leads to them; undefined: their logins. */
      readonly dial: string | undefined;
    }
  /** Any number of the domain. */
  | {
      readonly kind: 'number';
      readonly number: string;
      /** Expected sound: the caller's own tone (echo), or any. */
      readonly hears: 'own' | 'any';
    };

/** How calls are started by REST instead of by the phones. */
export interface Originate {
  /** `http://host:port/rest/v1` */
  readonly base: string;
  readonly token: string;
}

/** A load. Every value is within the bounds of `limits.ts`. */
export interface LoadPlan {
  /** Where every SIP message goes. */
  readonly sip: { readonly host: string; readonly port: number };
  /** This machine's address for SIP and sound. */
  readonly localHost: string;
  readonly domain: string;
  readonly callers: readonly Account[];
  /** Callers are not registered: the node asks the password at each call. */
  readonly unregistered: boolean;
  readonly callee: Callee;
  readonly originate: Originate | undefined;
  /** Calls a second at the start and at the end. */
  readonly rate: { readonly from: number; readonly to: number };
  readonly calls: number;
  /** Milliseconds in which calls start, whatever their number. */
  readonly startMs: number;
  /** Most calls at once; further ones wait. */
  readonly live: number;
  readonly talkMs: number;
  readonly ringMs: number;
  /** One call in so many is listened to; 0: none. */
  readonly soundEvery: number;
  /** Addresses other than loopback may be used. */
  readonly allowNetwork: boolean;
}

/** Milliseconds over which the rate goes from its first to its last value. */
export function rampMs({ rate, calls, startMs }: Pick<LoadPlan, 'rate' | 'calls' | 'startMs'>): number {
  return Math.min(startMs, (2000 * calls) / (rate.from + rate.to));
}

/**
 * When a call starts, in milliseconds from the first. The rate grows evenly, so the number of calls is quadratic in time.
 * @param index 0 for the first call
 */
export function startOf(index: number, plan: Pick<LoadPlan, 'rate' | 'calls' | 'startMs'>): number {
  const { from, to } = plan.rate;
  const growth = (to - from) / (rampMs(plan) / 1000);
  const root = from * from + 2 * growth * index;
  // A falling rate never reaches a call beyond its end.
  if (root < 0) return Number.POSITIVE_INFINITY;
  return (2000 * index) / (from + Math.sqrt(root));
}
