/** Patches drachtio-srf's handling of UPDATE beside pending requests. */
import type { SrfRequest, SrfResponse } from './srf-types.ts';

/** The used part of drachtio-srf's connection to a SIP server. */
interface Agent {
  request(...args: unknown[]): unknown;
  /** Passes a request to its dialog, or to the application object's handlers. */
  puntUpTheMiddleware(req: SrfRequest, res: SrfResponse): void;
}

/**
 * While a request of ours waits for its answer (OPTIONS, NOTIFY, a re-INVITE or the first INVITE), drachtio-srf
 * attributes an UPDATE with the same Call-ID to that request (drachtio-agent.js, `handle UPDATE for UAC INVITE`), where
 * it has no handler and stays unanswered. This patch routes it like any other request.
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
