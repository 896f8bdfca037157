import type { CallingLeg, Leg } from './leg.ts';

/**
 * Brings the sound of two legs to one media server, where it is on two: one of the phones gets a re-INVITE. Their endpoints
 * must be free.
 * @throws MediaError with status 488 when neither can move
 */
export async function gather(a: Leg, b: Leg): Promise<void> {
  if (a.mediaServer === undefined || b.mediaServer === undefined || a.mediaServer === b.mediaServer) return;
  if (isMovable(b)) await b.prepareMedia(a.mediaServer);
  else if (isMovable(a)) await a.prepareMedia(b.mediaServer);
}

/** A room stays where it is. */
function isMovable(leg: Leg): leg is CallingLeg {
  return 'prepareMedia' in leg && leg.party.kind !== 'conference';
}
