import type { MediaEndpoint } from './endpoint.ts';
import { RtpSink } from './rtp-sink.ts';

/** Something that hears what one party says, beside whatever its call does. */
export interface Tap {
  /** Aborted when there is nothing more to hear: the party has gone, or the tap was closed. */
  readonly over: AbortSignal;
  /** Ends it. Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * Listens to what a party says, without being noticed: an endpoint of its own on the same media server eavesdrops on the
 * party's channel, and its far end is a socket here. It stays with the party wherever its call goes.
 * @param onSamples 8 kHz linear samples as they come, 20 ms at a time
 * @throws MediaError when the media server has no room; EndpointGone when the party has gone
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
  // Whatever ends it, the party's end first of all: there is nothing to hear any more.
  listener.eavesdrop(target).then(close, close);
  return { over: over.signal, close };
}
