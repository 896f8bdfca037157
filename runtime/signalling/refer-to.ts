/** Reads Refer-To. */
import { parseReplaces, type Replaces } from './replaces.ts';
import { parseSipUri } from './sip-uri.ts';

/** The target of a REFER (RFC 3515 section 2.1). */
export interface ReferTarget {
  /** Number or login; empty where Replaces names the target beside a Contact of this side. */
  readonly user: string;
  /** Lower case; empty for a telephone number (`tel:`). */
  readonly host: string;
  /** The dialog to replace (RFC 3891), for an attended transfer. */
  readonly replaces: Replaces | undefined;
  /** Method of the request to send, upper case; default INVITE. */
  readonly method: string;
}

/** Several name-addrs. */
const SEVERAL = /<[^<>]*>[^<>,]*,[^<>]*</;

/** Reads Refer-To; undefined without a target, with several, or with an invalid Replaces. */
export function parseReferTo(header: string): ReferTarget | undefined {
  const uri = SEVERAL.test(header) ? undefined : parseSipUri(header);
  if (uri === undefined) return undefined;
  const { user, host } = uri;
  const method = (uri.params['method'] ?? 'INVITE').toUpperCase();
  const escaped = /[?&]Replaces=([^&>]+)/i.exec(header)?.[1];
  if (escaped === undefined) return user === '' ? undefined : { user, host, replaces: undefined, method };
  try {
    const replaces = parseReplaces(decodeURIComponent(escaped));
    return replaces === undefined ? undefined : { user, host, replaces, method };
  } catch {
    return undefined;
  }
}
