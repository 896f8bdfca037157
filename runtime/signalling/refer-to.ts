import { parseReplaces, type Replaces } from './replaces.ts';
import { parseSipUri } from './sip-uri.ts';

/** Where a REFER points (RFC 3515 section 2.1). */
export interface ReferTarget {
  /** Number or login. */
  readonly user: string;
  /** Lower case; empty for a telephone number (`tel:`). */
  readonly host: string;
  /** The dialog to replace (RFC 3891), for an attended transfer. */
  readonly replaces: Replaces | undefined;
  /** Of the request that is to be sent there, upper case; INVITE unless something else is said. */
  readonly method: string;
}

/** More than one name-addr. */
const SEVERAL = /<[^<>]*>[^<>,]*,[^<>]*</;

/** Reads Refer-To; undefined when it names nobody, several, or no dialog where it should. */
export function parseReferTo(header: string): ReferTarget | undefined {
  const uri = SEVERAL.test(header) ? undefined : parseSipUri(header);
  if (uri === undefined || uri.user === '') return undefined;
  const { user, host } = uri;
  const method = (uri.params['method'] ?? 'INVITE').toUpperCase();
  const escaped = /[?&]Replaces=([^&>]+)/i.exec(header)?.[1];
  if (escaped === undefined) return { user, host, replaces: undefined, method };
  try {
    const replaces = parseReplaces(decodeURIComponent(escaped));
    return replaces === undefined ? undefined : { user, host, replaces, method };
  } catch {
    return undefined;
  }
}
