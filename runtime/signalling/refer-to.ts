import { parseSipUri } from './sip-uri.ts';

/** Where a REFER points (RFC 3515 section 2.1). */
export interface ReferTarget {
  /** Number or login. */
  readonly user: string;
  /** Call-ID of the dialog to replace (RFC 3891), for an attended transfer. */
  readonly replaces: string | undefined;
  /** Of the request that is to be sent there, upper case; INVITE unless something else is said. */
  readonly method: string;
}

/** Reads Refer-To; undefined when it names nobody. */
export function parseReferTo(header: string): ReferTarget | undefined {
  const uri = parseSipUri(header);
  if (uri === undefined || uri.user === '') return undefined;
  const method = (uri.params['method'] ?? 'INVITE').toUpperCase();
  const escaped = /[?&]Replaces=([^&>]+)/i.exec(header)?.[1];
  if (escaped === undefined) return { user: uri.user, replaces: undefined, method };
  try {
    return { user: uri.user, replaces: replacedCallId(decodeURIComponent(escaped)), method };
  } catch {
    return undefined;
  }
}

/** Whether a Replaces value is only for a call that is not answered yet (RFC 3891 section 4). */
export function isEarlyOnly(replaces: string): boolean {
  return /;\s*early-only\s*(;|$)/i.test(replaces);
}

/** Call-ID of a Replaces value: `callid;to-tag=..;from-tag=..`. */
export function replacedCallId(replaces: string): string {
  return (replaces.split(';')[0] ?? '').trim();
}
