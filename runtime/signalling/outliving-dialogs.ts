/** Dialogs that outlive the connection to the SIP server that made them: patches drachtio-srf. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Srf, SrfDialog, SrfRequest } from './srf-types.ts';

/** One connection, as the library keeps it. */
interface Connection {
  readonly authenticated: boolean;
  /** Settle the messages that the server has not confirmed. */
  readonly pendingRequests: ReadonlyMap<string, (reply: readonly string[]) => void>;
  /** Sent requests without a final answer. */
  readonly pendingSipRequests: ReadonlyMap<string, { readonly req: SrfRequest }>;
}

interface Client {
  readonly mapServer: ReadonlyMap<Socket, Connection>;
  readonly wp: EventEmitter;
}

/** What the library changes and offers beside the used parts. */
type LibraryDialog = Omit<SrfDialog, 'connected'> & { connected: boolean };

interface Library {
  readonly app: { readonly client: Client };
  addDialog(dialog: LibraryDialog): void;
  removeDialog(dialog: LibraryDialog): void;
}

/** The BYE is sent when the SIP server is back. */
export class Unconnected extends Error {
  override readonly name = 'Unconnected';
  constructor() {
    super('there is no connection to the SIP server; the BYE is sent over the next one');
  }
}

/** The answer to a request whose own was lost with the connection. Its source is unknown, so the phone does not count as gone. */
const LOST = {
  status: 503,
  reason: 'SIP Server Lost',
  body: '',
  get: () => undefined,
  has: () => false,
  getParsedHeader: () => undefined,
};

/**
 * drachtio-srf sends the requests of a dialog over the connection that made it, also after its end, and settles no request whose
 * answer was lost with it. A SIP server that kept running takes them over any connection. So they go over the present one, lost ones
 * are answered with 503, and a BYE is sent, or sent again, once there is a connection; `destroy` rejects meanwhile.
 */
export class OutlivingDialogs {
  readonly #srf: Srf;
  readonly #connected: () => boolean;
  /** Headers of each BYE without an answer, by dialog. */
  readonly #byes = new Map<string, Record<string, string>>();

  /**
   * @param srf an application object that has begun to connect
   * @param connected true while the SIP server takes requests
   */
  constructor(srf: Srf, connected: () => boolean) {
    this.#srf = srf;
    this.#connected = connected;
    const library = srf as unknown as Library;
    const addDialog = library.addDialog.bind(library);
    library.addDialog = (dialog) => {
      this.#adjust(dialog);
      addDialog(dialog);
    };
    const { client } = library.app;
    // Before the library forgets the connection.
    client.wp.prependListener('close', (socket: Socket) => {
      const connection = client.mapServer.get(socket);
      // Afterwards, so that INVITEs are known to be lost.
      if (connection?.authenticated === true) setImmediate(() => this.#settle(connection));
    });
  }

  /** Sends each BYE that was due meanwhile, or whose answer was lost. */
  resume(): void {
    const due = [...this.#byes];
    for (const [stackDialogId, headers] of due) {
      const over = (): boolean => this.#connected() && this.#byes.delete(stackDialogId);
      this.#srf.request('sip:placeholder', { method: 'BYE', stackDialogId, headers }, (_err, req) => {
        // A server that has lost the dialog refuses.
        if (req === undefined) over();
        else req.on('response', over);
      });
    }
  }

  #adjust(dialog: LibraryDialog): void {
    // Without a socket the library takes the present one.
    Object.defineProperty(dialog, 'socket', { get: () => undefined });
    const { id } = dialog;
    const destroy = dialog.destroy.bind(dialog);
    dialog.destroy = async (options) => {
      this.#byes.set(id, options?.headers ?? {});
      if (!this.#connected()) {
        dialog.connected = false;
        (this.#srf as unknown as Library).removeDialog(dialog);
        dialog.removeAllListeners();
        throw new Unconnected();
      }
      try {
        return await destroy(options);
      } finally {
        if (this.#connected()) this.#byes.delete(id);
      }
    };
  }

  #settle({ pendingRequests, pendingSipRequests }: Connection): void {
    for (const settle of pendingRequests.values()) settle(['NOK', 'the connection to the SIP server is lost']);
    for (const { req } of pendingSipRequests.values())
      if (/;tag=/.test(req.get('To') ?? '')) req.emit('response', LOST, () => undefined);
  }
}
