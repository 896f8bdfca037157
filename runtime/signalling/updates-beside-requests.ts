import type { SrfRequest, SrfResponse } from './srf-types.ts';

/** The part of drachtio-srf's connection to a SIP server that this is about. */
interface Agent {
  request(...args: unknown[]): unknown;
  /** Hands a request to its dialog, or to the handlers of the application object. */
  puntUpTheMiddleware(req: SrfRequest, res: SrfResponse): void;
}

/**
 * drachtio-srf takes an UPDATE that comes while a request of ours with the same Call-ID waits for its answer (OPTIONS, NOTIFY,
 * a re-INVITE as well as the first INVITE) for one that belongs to that request (drachtio-agent.js, `handle UPDATE for UAC
 * INVITE`), where nobody expects it: it would stay without an answer. From now on it goes where every other request goes.
 * @param srf an application object that has begun to connect
 */
export function routeUpdates(srf: object): void {
  const agent = (srf as { app: { client: Agent } }).app.client;
  const request = agent.request.bind(agent);
  agent.request = (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== 'function') return request(...args);
    return request(...args.slice(0, -1), (err: unknown, sent?: SrfRequest) => {
      sent?.on('update', (req: SrfRequest, res: SrfResponse) => agent.puntUpTheMiddleware(req, res));
      callback(err, sent);
    });
  };
}
