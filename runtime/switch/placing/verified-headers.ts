/** Tells phones what is known of a caller from outside. */
import { plainUri } from '../../signalling/index.ts';
import type { Party } from '../legs/party.ts';

/**
 * P-Asserted-Identity with the result of the verification (3GPP TS 24.229 section 7.2A.20), for a phone that is called by a
 * verified party.
 * @param shown the caller as the phone sees it
 */
export function verifiedHeaders(
  calling: Party,
  called: Party,
  shown: { readonly number: string; readonly host: string },
): Readonly<Record<string, string>> {
  if (calling.kind !== 'provider' || calling.verdict === undefined || called.kind !== 'sipuser') return {};
  const [user, host] = plainUri(shown.number, shown.host).split('@') as [string, string];
  return { 'P-Asserted-Identity': `<${user};verstat=${calling.verdict.verstat}@${host}>` };
}
