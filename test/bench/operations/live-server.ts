/**
 * The REST service of the benchmark `operations`, over a callstore with generated calls: everything between the socket and
 * the callstore is product code. Arguments: port of the health check, number of calls. The health check answers with the
 * port of the service, a token, and selectors of some calls.
 */
import Fastify from 'fastify';
import { createOperations } from '../../../runtime/operations/index.ts';
import { MemoryCallStore } from '../../../runtime/callstore/memory-callstore.ts';
import { MemoryConferenceStore } from '../../../runtime/callstore/memory-conference-store.ts';
import { Metrics } from '../../../runtime/metrics/metrics.ts';
import { NO_ROOMS } from '../../operations/support.ts';
import { DataNode } from '../../rest-bridge/support/data-node.ts';
import { liveDialog } from './dialogs.ts';
import { systemClock } from '../../../runtime/runs/clock.ts';
import { simulatedServices } from '../../../runtime/workbench/simulation/services.ts';

const [healthPort, calls] = process.argv.slice(2).map(Number);
const store = new MemoryCallStore(() => undefined);
const named: { dialogid: string; callid: string }[] = [];
for (let index = 0; index < (calls ?? 0); index += 1) {
  const entry = liveDialog(index);
  store.put(entry);
  named.push({ dialogid: entry.view.dialogid, callid: entry.view.callids[1] ?? '' });
}
const none = () => Promise.reject(new Error('there are no calls here'));
const metrics = new Metrics({ counts: async () => ({}) });
const node = await DataNode.start({
  calls: store,
  metrics,
  operations: createOperations({
    program: none,
    openCall: () => {
      throw new Error('there are no calls here');
    },
    runServices: simulatedServices({ clock: systemClock }),
    calls: store,
    conferences: new MemoryConferenceStore(store),
    rooms: NO_ROOMS,
    dialogs: { find: () => undefined },
    directory: {
      sipUsersOfUser: () => [],
      sipUserByNumber: () => undefined,
      sipUserByLogin: () => undefined,
      sipUserById: () => undefined,
      featureCode: () => undefined,
      route: () => ({ kind: 'reject', status: 404, reason: 'Not Found' }),
    },
    scenario: none,
    log: { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined },
  }),
});
const token = await node.login('admin@demo.local');
/** As many calls as a round of requests can distinguish. */
const SOME = 5000;
const step = Math.max(1, Math.floor(named.length / SOME));
const health = Fastify();
health.get('/healthz', () => ({ port: node.port, token, named: named.filter((_, index) => index % step === 0) }));
await health.listen({ host: '127.0.0.1', port: healthPort ?? 0 });

process.once('SIGTERM', () => {
  void (async () => {
    await health.close();
    await node.close();
    process.exit(0);
  })();
});
