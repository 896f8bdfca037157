/** Whether a SIP server gives this application its turns of new requests. */
import type { Socket } from 'node:net';

/** Private parts of drachtio-srf: connections to servers, and the methods that they are asked for at each connection. */
interface Agent {
  readonly mapServer: ReadonlyMap<Socket, { readonly authenticated: boolean }>;
  readonly verbs: Map<string, { readonly sent: boolean }>;
  readonly wp: { send(socket: Socket, text: string): void };
}

/** New requests that mean a call, or ask whether one would be taken. */
const CALL_VERBS: readonly string[] = ['invite', 'options'];

/**
 * Several applications of one server take turns. One that rests gets no new request; those within its dialogs still come. The library's
 * own `route` asks for all methods again with each one, and drachtio-server would count each as a further turn.
 */
export class Turns {
  readonly #agent: Agent;
  readonly #verbs: readonly string[];
  #rests = false;

  /**
   * @param srf an application object with handlers for its methods that has begun to connect
   * @param takesCalls false: it never gets new calls
   */
  constructor(srf: object, takesCalls: boolean) {
    this.#agent = (srf as { readonly app: { readonly client: Agent } }).app.client;
    if (!takesCalls) for (const verb of CALL_VERBS) this.#agent.verbs.delete(verb);
    this.#verbs = [...this.#agent.verbs.keys()];
  }

  set rests(rests: boolean) {
    if (rests === this.#rests) return;
    this.#rests = rests;
    const { mapServer, verbs, wp } = this.#agent;
    for (const verb of this.#verbs) {
      if (rests) verbs.delete(verb);
      else verbs.set(verb, { sent: false });
      for (const [socket, { authenticated }] of mapServer)
        if (authenticated) wp.send(socket, `${rests ? 'remove_route' : 'route'}|${verb}`);
    }
  }
}
