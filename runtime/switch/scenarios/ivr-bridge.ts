/** Connects the sound of two parties of one scenario. */
import { aborted, type EndpointServer, type MediaEndpoint, MediaError } from '../../media/index.ts';
import { MediaPath } from '../sound/media-path.ts';
import { RINGBACK } from '../sound/ringback.ts';

/** One of two parties that a scenario connects. */
export interface BridgeSide {
  readonly endpoint: MediaEndpoint;
  /** Aborted when another party replaces it; `endpoint` is that party's then. */
  readonly replaced: AbortSignal;
  /** True while another party is about to replace it. */
  readonly leaving: boolean;
  /** Moves its endpoint to a media server. */
  moveTo(server: EndpointServer): Promise<unknown>;
  /** Aborted when its call is over. */
  readonly ended: AbortSignal;
  /** True while it holds the call. */
  readonly held: boolean;
  /** Reports every hold and resume until the returned function is called. */
  onHold(listener: (held: boolean) => void): () => void;
}

/**
 * Connects the sound of two parties of one scenario until one of them is gone or the signal aborts. The remaining parties'
 * media is free afterwards. A party that replaces one of them is connected with the other.
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

/** Connects the two present parties until one of them is replaced, or `over` aborts. */
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
    // A party left while it was being connected: its call ends next, or another party replaces it.
    if (!endpoints.some(({ gone }) => gone.aborted) && !until.aborted) throw error;
    await aborted(until);
  } finally {
    for (const stop of unlisten) stop();
    await path.disconnect();
    await Promise.all(waiting);
    // Digits of the conversation are not meant for the scenario.
    for (const { digits } of endpoints) while (digits.take() !== undefined);
  }
}

/** Plays ringback to the other party after the leaver has transferred the call, until the target answers. Never rejects. */
async function waitAlone(path: MediaPath, leaver: BridgeSide, other: MediaEndpoint, until: AbortSignal): Promise<void> {
  const { gone } = leaver.endpoint;
  await aborted(AbortSignal.any([gone, until]));
  if (until.aborted || !leaver.leaving) return;
  await path.disconnect();
  // It rejects on the signal and with the end of the channel. Both are wanted ends.
  await other.play(RINGBACK, until).catch(() => undefined);
}

/** @throws MediaError with status 488 when neither can move */
async function bringTogether(a: BridgeSide, b: BridgeSide): Promise<void> {
  try {
    await b.moveTo(a.endpoint.server);
  } catch (error) {
    // A conference cannot move.
    if (!(error instanceof MediaError)) throw error;
    await a.moveTo(b.endpoint.server);
  }
}
