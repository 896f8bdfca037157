/**
 * The floor of the benchmark `operations`: a bare Fastify handler over maps with the same calls, without sessions, checks
 * and log. Arguments: port, number of calls. The health check answers with selectors of some calls, and with the port of the same
 * handler with a line of pino's log for each answer.
 */
import Fastify, { type FastifyReply, LogController } from 'fastify';
import { pino } from 'pino';
import type { DialogView } from '../../../runtime/callstore/dialog-view.ts';
import { liveDialog } from './dialogs.ts';

const [port, calls] = process.argv.slice(2).map(Number);
const byId = new Map<string, DialogView>();
const byCall = new Map<string, string>();
for (let index = 0; index < (calls ?? 0); index += 1) {
  const { view } = liveDialog(index);
  byId.set(view.dialogid, view);
  for (const callid of view.callids) byCall.set(callid, view.dialogid);
}
const http = Fastify();
const log = pino({}, pino.destination('/dev/null'));
const logged = Fastify({ loggerInstance: log, logController: new LogController({ disableRequestLogging: true }) });
logged.addHook('onResponse', (request, reply, done) => {
  const { method, url, ip } = request;
  request.log.info({ method, path: url, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ip }, 'request');
  done();
});
const all = [...byId.values()];
const step = Math.max(1, Math.floor(all.length / 5000));
http.get('/healthz', () => ({
  loggedPort: Number(new URL(loggedAt).port),
  named: all
    .filter((_, index) => index % step === 0)
    .map(({ dialogid, callids }) => ({ dialogid, callid: callids[1] })),
}));
const lookup = ({ body }: { readonly body: { readonly callid: string } }, reply: FastifyReply) => {
  const found = byCall.get(body.callid);
  return reply.code(found === undefined ? 404 : 200).send([found]);
};
http.post<{ Body: { callid: string } }>('/lookup', lookup);
logged.post<{ Body: { callid: string } }>('/lookup', lookup);
http.get<{ Params: { id: string } }>('/read/:id', ({ params }, reply) => {
  const found = byId.get(params.id);
  return reply.code(found === undefined ? 404 : 200).send(found);
});
http.get<{ Querystring: { site: string } }>('/list', ({ query }) =>
  all
    .filter(({ site }) => site === query.site)
    .toSorted((a, b) => (a.dialogid < b.dialogid ? -1 : 1))
    .slice(0, 20),
);
const loggedAt = await logged.listen({ host: '127.0.0.1', port: 0 });
await http.listen({ host: '127.0.0.1', port: port ?? 0 });

process.once('SIGTERM', () => void Promise.all([http.close(), logged.close()]).then(() => process.exit(0)));
