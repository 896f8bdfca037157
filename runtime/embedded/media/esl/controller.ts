/** Outbound event socket connections, to the clients that control channels. */
import { connect, type Socket } from 'node:net';
import { Idle } from '../apps/idle.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaCore } from '../core/media-core.ts';
import { EslConnection, type EslSocket } from './connection.ts';
import { EslSession } from './session.ts';

/** Limit for a client to accept the connection, ms. */
const CONNECT_TIMEOUT_MS = 5000;

const CONNECT = { line: 'connect', headers: new Map<string, string>(), body: '' };

/** Connects channels to the clients that control them: the `socket` application with `async full`. */
export class ControllerConnections {
  readonly #core: MediaCore;
  readonly #connections = new Set<EslConnection>();

  constructor(core: MediaCore) {
    this.#core = core;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /**
   * Puts a channel under the control of the client at `host:port`. The call ends when the client is unreachable.
   * @param direct a connection to a client in this process; it is told of the channel before it asks
   */
  attach(channel: Channel, controller: { readonly host: string; readonly port: number }, direct?: EslSocket): void {
    const target = `${controller.host}:${controller.port}`;
    channel.set('socket_host', controller.host);
    channel.run('socket', `${target} async full`, new Idle(channel));
    channel.setParked(true);
    const connection = new EslConnection(direct ?? connectTo(controller));
    this.#connections.add(connection);
    connection.onEnd = () => connection.disconnect(channel.uuid);
    connection.onClose = () => {
      this.#connections.delete(connection);
      this.#core.bus.remove(connection);
      // Closing the socket ends the call; a bridge goes on, as in FreeSWITCH.
      channel.uncontrolled();
    };
    channel.control = connection;
    EslSession.open(this.#core, connection, channel);
    if (direct !== undefined) connection.onCommand(CONNECT);
  }

  close(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}

function connectTo({ host, port }: { readonly host: string; readonly port: number }): Socket {
  const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
  socket.once('connect', () => socket.setTimeout(0));
  socket.once('timeout', () => socket.destroy());
  return socket;
}
