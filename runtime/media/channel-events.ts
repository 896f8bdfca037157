/** Event subscriptions of channels: only events in use, because FreeSWITCH writes up to 8 KB for each. */
import type { FsConnection, FsEndpoint } from 'drachtio-fsmrf';

const EXECUTIONS = ['CHANNEL_EXECUTE', 'CHANNEL_EXECUTE_COMPLETE'];

/** Subscribes to the executions of a connection's channel; settles with the media server's reply. */
const subscriptions = new WeakMap<FsConnection, () => Promise<void>>();

/**
 * Replaces the subscription of drachtio-fsmrf, which takes ten kinds of events on each channel. A channel's connection
 * begins with digits; the first application adds the executions. The end of the channel ends the connection.
 * @param connection a new connection from the media server
 */
export function subscribeOnDemand(connection: FsConnection): void {
  // Added to every subscription of the connection.
  connection.reqEvents = [];
  const execute = connection.execute.bind(connection);
  const subscribe = connection.subscribe.bind(connection);
  connection.subscribe = (_wanted, done) => {
    connection.subscribe = subscribe;
    subscribe(['DTMF'], done);
  };
  // Never after an application: the library takes the reply to that for the reply to its oldest command.
  let subscribed: Promise<void> | undefined;
  const follow = (): Promise<void> => (subscribed ??= new Promise((resolve) => subscribe(EXECUTIONS, () => resolve())));
  subscriptions.set(connection, follow);
  connection.execute = (...application) => {
    // The media server handles the commands of a connection in order.
    void follow();
    return execute(...application);
  };
}

/** Settles when CHANNEL_EXECUTE and CHANNEL_EXECUTE_COMPLETE arrive for applications that another channel's command starts. */
export async function followExecutions(connection: FsConnection | null): Promise<void> {
  if (connection !== null) await subscriptions.get(connection)?.();
}

/** Settles when the next CHANNEL_PARK will arrive, with a function that waits for it. */
export async function nextParking({ conn, uuid }: FsEndpoint): Promise<() => Promise<void>> {
  const name = `esl::event::CHANNEL_PARK::${uuid}`;
  const parked = Promise.withResolvers<void>();
  const listener = (): void => {
    conn?.removeListener(name, listener);
    parked.resolve();
  };
  conn?.on(name, listener);
  await new Promise<void>((resolve) => conn?.subscribe(['CHANNEL_PARK'], resolve));
  return () => parked.promise;
}
