/** Listens to one party of a call. */
import type { MediaEndpoint } from './endpoint.ts';
import { RtpSink } from './rtp-sink.ts';

/** A listener to one party, independent of its call. */
export interface Tap {
  /** Aborted at the end: the party left, or the tap was closed. */
  readonly over: AbortSignal;
  /** Ends it. Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * Listens to a party unnoticed: an additional endpoint on the same media server eavesdrops on the party's channel, with
 * a socket here as its far end. It follows the party through transfers.
 * @param onSamples receives 8 kHz linear samples, 20 ms at a time
 * @throws MediaError when the media server has no capacity; EndpointGone when the party has left
 */
export async function tapEndpoint(target: MediaEndpoint, onSamples: (samples: Int16Array) => void): Promise<Tap> {
  const sink = await RtpSink.open(target.server.listenAddress, onSamples);
  let listener: MediaEndpoint;
  try {
    target.gone.throwIfAborted();
    listener = await target.server.createEndpoint({ remoteSdp: sink.sdp, mayBeSilent: true });
  } catch (error) {
    sink.close();
    throw error;
  }
  const over = new AbortController();
  const close = async (): Promise<void> => {
    if (over.signal.aborted) return;
    over.abort();
    await listener.destroy();
    sink.close();
  };
  // Any end, most often the party's, ends the tap.
  listener.eavesdrop(target).then(close, close);
  return { over: over.signal, close };
}
