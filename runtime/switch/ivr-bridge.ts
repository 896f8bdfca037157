import type { EndpointServer, MediaEndpoint } from '../media/endpoint.ts';
import { MediaError } from '../media/media-error.ts';
import { aborted } from '../media/until-aborted.ts';
import { MediaPath } from './media-path.ts';

/** One of two parties that a scenario lets talk. */
export interface BridgeSide {
  readonly endpoint: MediaEndpoint;
  /** Brings its sound to a media server. */
  moveTo(server: EndpointServer): Promise<unknown>;
  /** Aborted when its call is over. */
  readonly ended: AbortSignal;
  /** Whether it holds the call now. */
  readonly held: boolean;
  /** Tells when it holds the call or takes it back, until the returned function is called. */
  onHold(listener: (held: boolean) => void): () => void;
}

/**
 * Connects the sound of two parties of one scenario until one of them is gone or the signal aborts. Whoever is still
 * there has its media free afterwards.
 * @returns whose call ended first
 * @throws the signal's reason
 */
export async function bridgeSides(a: BridgeSide, b: BridgeSide, signal: AbortSignal): Promise<'this' | 'other'> {
  const path = new MediaPath(a.endpoint, b.endpoint, () => true);
  const unlisten = [a, b].map((side) =>
    // The path dies with its endpoints; the end of a call is noticed below.
    side.onHold((held) => void path.setHeld(side.endpoint, held).catch(() => undefined)),
  );
  const over = AbortSignal.any([signal, a.ended, b.ended]);
  try {
    if (a.endpoint.server !== b.endpoint.server) await bringTogether(a, b);
    await path.connect();
    for (const side of [a, b]) if (side.held) await path.setHeld(side.endpoint, true);
    await aborted(over);
  } catch (error) {
    // A party that left while it was being connected: its call ends next.
    if (!a.endpoint.gone.aborted && !b.endpoint.gone.aborted && !over.aborted) throw error;
    await aborted(over);
  } finally {
    for (const stop of unlisten) stop();
    await path.disconnect();
    // Keys of the conversation are not meant for the scenario.
    for (const { endpoint } of [a, b]) while (endpoint.digits.take() !== undefined);
  }
  if (a.ended.aborted) return 'this';
  if (b.ended.aborted) return 'other';
  throw signal.reason;
}

/** @throws MediaError with status 488 when neither can move */
async function bringTogether(a: BridgeSide, b: BridgeSide): Promise<void> {
  try {
    await b.moveTo(a.endpoint.server);
  } catch (error) {
    // A room stays where it is.
    if (!(error instanceof MediaError)) throw error;
    await a.moveTo(b.endpoint.server);
  }
}
