/** Outbound event socket connections, to the clients that control channels. */
import { connect } from 'node:net';
import { Idle } from '../apps/idle.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaCore } from '../core/media-core.ts';
import { EslConnection } from './connection.ts';
import { EslSession } from './session.ts';

/** Limit for a client to accept the connection, ms. */
const CONNECT_TIMEOUT_MS = 5000;

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

  /** Puts a channel under the control of the client at `host:port`. The call ends when the client is unreachable. */
  attach(channel: Channel, controller: { readonly host: string; readonly port: number }): void {
    const target = `${controller.host}:${controller.port}`;
    channel.set('socket_host', controller.host);
    channel.run('socket', `${target} async full`, new Idle(channel));
    channel.setParked(true);
    const socket = connect({ host: controller.host, port: controller.port, timeout: CONNECT_TIMEOUT_MS });
    const connection = new EslConnection(socket);
    this.#connections.add(connection);
    socket.once('connect', () => socket.setTimeout(0));
    socket.once('timeout', () => socket.destroy());
    connection.onEnd = () => connection.disconnect(channel.uuid);
    connection.onClose = () => {
      this.#connections.delete(connection);
      this.#core.bus.remove(connection);
      // Closing the socket ends the call; a bridge goes on, as in FreeSWITCH.
      channel.uncontrolled();
    };
    channel.control = connection;
    EslSession.open(this.#core, connection, channel);
  }

  close(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}
