import type { CallingLeg, Leg } from './leg.ts';

/**
 * Brings the endpoints of two legs to one media server. A phone whose endpoint moves gets a re-INVITE. Both endpoints must
 * be free.
 * @throws MediaError with status 488 when neither can move
 */
export async function gather(a: Leg, b: Leg): Promise<void> {
  if (a.mediaServer === undefined || b.mediaServer === undefined || a.mediaServer === b.mediaServer) return;
  if (isMovable(b)) await b.prepareMedia(a.mediaServer);
  else if (isMovable(a)) await a.prepareMedia(b.mediaServer);
}

/** A conference cannot move. */
function isMovable(leg: Leg): leg is CallingLeg {
  return 'prepareMedia' in leg && leg.party.kind !== 'conference';
}
