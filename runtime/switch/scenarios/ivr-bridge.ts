import { aborted, type EndpointServer, type MediaEndpoint, MediaError } from '../../media/index.ts';
import { MediaPath } from '../sound/media-path.ts';
import { RINGBACK } from '../sound/ringback.ts';

/** One of two parties that a scenario lets talk. */
export interface BridgeSide {
  readonly endpoint: MediaEndpoint;
  /** Aborted when somebody else comes in its place: its endpoint is another one then. */
  readonly replaced: AbortSignal;
  /** Whether somebody is about to. */
  readonly leaving: boolean;
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
 * there has its media free afterwards. Who comes in the place of one of them is connected with the other.
 * @returns whose call ended first
 * @throws the signal's reason
 */
export async function bridgeSides(a: BridgeSide, b: BridgeSide, signal: AbortSignal): Promise<'this' | 'other'> {
  const over = AbortSignal.any([signal, a.ended, b.ended]);
  do await talk(a, b, over);
  while (!over.aborted);
  if (a.ended.aborted) return 'this';
  if (b.ended.aborted) return 'other';
  throw signal.reason;
}

/** Connects the two who are there now, until somebody comes in the place of one of them. */
async function talk(a: BridgeSide, b: BridgeSide, over: AbortSignal): Promise<void> {
  const until = AbortSignal.any([over, a.replaced, b.replaced]);
  const endpoints = [a.endpoint, b.endpoint] as const;
  const path = new MediaPath(...endpoints, () => true);
  const waiting = [waitAlone(path, a, b.endpoint, until), waitAlone(path, b, a.endpoint, until)];
  const unlisten = [a, b].map((side) =>
    // The path dies with its endpoints; the end of a call is noticed below.
    side.onHold((held) => void path.setHeld(side.endpoint, held).catch(() => undefined)),
  );
  try {
    if (a.endpoint.server !== b.endpoint.server) await bringTogether(a, b);
    await path.connect();
    for (const side of [a, b]) if (side.held) await path.setHeld(side.endpoint, true);
    await aborted(until);
  } catch (error) {
    // A party that left while it was being connected: its call ends next, or somebody comes in its place.
    if (!endpoints.some(({ gone }) => gone.aborted) && !until.aborted) throw error;
    await aborted(until);
  } finally {
    for (const stop of unlisten) stop();
    await path.disconnect();
    await Promise.all(waiting);
    // Keys of the conversation are not meant for the scenario.
    for (const { digits } of endpoints) while (digits.take() !== undefined);
  }
}

/** Who transferred the call is gone: until the target answers the other party hears it ring. Never rejects. */
async function waitAlone(path: MediaPath, leaver: BridgeSide, other: MediaEndpoint, until: AbortSignal): Promise<void> {
  const { gone } = leaver.endpoint;
  await aborted(AbortSignal.any([gone, until]));
  if (until.aborted || !leaver.leaving) return;
  await path.disconnect();
  // Ends by the signal, or with the channel.
  await other.play(RINGBACK, until).catch(() => undefined);
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
