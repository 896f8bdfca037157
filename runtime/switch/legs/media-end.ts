/** What is told of the media of a leg at its end. */
import type { MediaEndpoint } from '../../media/index.ts';
import type { Party } from './party.ts';
import type { PhoneLegTools } from './phone-leg-tools.ts';

/** Reports what the media server has counted, and logs faults of encrypted media. */
export async function tellMediaEnd(
  { log, observer }: Pick<PhoneLegTools, 'log' | 'observer'>,
  { callid, party }: { readonly callid: string; readonly party: Party },
  endpoint: MediaEndpoint,
): Promise<void> {
  const figures = await endpoint.figures;
  if (figures === undefined) return;
  const { secureFailure, rejectedIn } = figures;
  if (secureFailure !== undefined) log.warn({ callid, reason: secureFailure }, 'encrypted media has failed');
  if (rejectedIn !== undefined) {
    const message = 'packets of encrypted media were dropped: forged, repeated, or not encrypted by the agreed key';
    log.warn({ callid, packets: rejectedIn }, message);
  }
  const trunk = party.kind === 'provider' ? party.provider.code : undefined;
  observer?.mediaEnded({ domain: party.domain, trunk }, figures);
}
