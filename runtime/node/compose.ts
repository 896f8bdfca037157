/** The composition root: the opened threads, processes and database in, a working node out. The only file that wires all rooms. */
import type { Logger } from 'pino';
import { GuardedHttpClient } from '../../components/index.ts';
import { CallIds } from '../callstore/index.ts';
import type { Config } from '../config/index.ts';
import { EventBus, modelEvents } from '../events/index.ts';
import { giveBackAtRest } from '../memory/index.ts';
import { Metrics } from '../metrics/index.ts';
import { programRunner } from '../processes/index.ts';
import { openCalls } from './calls.ts';
import { inherit, joinCluster, openCluster, openSubscriptions, takeTurns } from './cluster.ts';
import { openData } from './data.ts';
import { Drain } from './drain.ts';
import { dutiesOf } from './duties.ts';
import { LateParts } from './late.ts';
import { openHistory, openRunHistory, openScenarioFigures } from './history.ts';
import { openLinks } from './links.ts';
import { withCallIds } from './log.ts';
import type { Node } from './node.ts';
import { openOperations } from './operations.ts';
import type { Outside } from './outside.ts';
import { openPrompts } from './prompts.ts';
import { openRecordings } from './recordings.ts';
import { openRest } from './rest.ts';
import { openScenarios } from './scenarios.ts';
import { openServiceManager } from './service-manager.ts';
import { sipWebSockets } from './sip-websockets.ts';
import type { Shutdown } from './shutdown.ts';
import { openStir } from './stir.ts';
import { openWebhooks } from './webhooks.ts';
import { openSipMessages } from './sip-messages.ts';

/** Time of a drain that is asked for, where RINGMASTER_DRAIN gives none, in milliseconds. */
const DRAIN_MS = 600_000;

export interface ComposeNeeds extends Outside {
  readonly config: Config;
  readonly log: Logger;
  /** Takes each opened part, also when a later one fails. */
  readonly shutdown: Shutdown;
}

/** Wires the parts of a node. @throws ListenError for a taken port; SipLinkError, MediaLinkError */
export async function compose(
  needs: ComposeNeeds,
): Promise<
  Pick<
    Node,
    'httpAddress' | 'httpsAddress' | 'sipAddress' | 'sipsAddress' | 'webSocketUrls' | 'demo' | 'hasAccounts' | 'drain'
  >
> {
  const { config, shutdown, nursery, storage, servers, sandbox, scripting, certificate } = needs;
  const duties = dutiesOf(config.roles);
  const late = new LateParts();
  const callIds = new CallIds();
  const log = withCallIds(needs.log, callIds);
  const data = await openData({
    config,
    storage,
    checkScript: scripting.compiler.check,
    confirmToken: (code, token) => late.confirmToken.part(code, token),
    log,
  });
  shutdown.add('data', () => data.close());
  const { directory, location, model } = data;
  const cluster = await openCluster(config, log);
  if (cluster !== undefined) {
    shutdown.add('cluster', () => cluster.close());
    cluster.shareContacts(location);
  }

  const metrics = new Metrics({
    counts: () => counts(),
    pools: () => pools(),
    history: () => history.state(),
    scripts: () => sandbox.usage(),
    trunks: () => trunks(),
  });
  const events = new EventBus({
    onListenerError: (err, { class: name, type }) =>
      log.error({ err, class: name, type }, 'a listener of an event failed'),
  });
  const sharedEvents = cluster?.shareEvents(events);
  model.onChange(modelEvents(events, (id) => directory.domainById(id)?.name));
  const webhooks = await openWebhooks({ config, storage, directory, events, metrics, log });
  shutdown.add('webhooks', () => webhooks.close());
  const recordings = await openRecordings({ config, storage, directory, events, nursery, late, log });
  const drain = new Drain({
    left: () => ({
      calls: calls.callstore.count + calls.switch.lentPhones,
      runs: scenarios.runner.withCalls + operations.local.running,
    }),
    defaultMs: config.drainMs || DRAIN_MS,
    log,
  });
  const runHistory = openRunHistory({ config, directory, model, log });
  shutdown.add('traces of runs', () => runHistory.close());
  const scenarioFigures = openScenarioFigures({ config, directory, storage, log });
  shutdown.add('figures of scenarios', () => scenarioFigures.close());
  const http = new GuardedHttpClient({ hosts: config.scenarioHosts, networks: config.scenarioNetworks });
  const sounds = await openPrompts({ config, data, nursery, http, log });
  const scenarios = await openScenarios({
    runHistory,
    scenarioFigures,
    config,
    scripting,
    storage,
    directory,
    model,
    events,
    metrics,
    recordings,
    http,
    sounds,
    voicemail: data.voicemail,
    late,
    refusal: () => drain.refusal,
    isFull: () => calls.overload('rest') !== undefined,
    duties,
    cluster,
    log,
  });
  shutdown.add('scenarios', () => scenarios.close());
  const keepsLeft = cluster !== undefined;
  const history = openHistory({ config, directory, model, recordings, keepsLeft, log });
  shutdown.add('history of calls', () => history.close());
  const messages = openSipMessages({ config, liveCalls: (id) => late.switch.part.factsOf(id), callIds, log });
  shutdown.add('SIP messages', () => messages.close());
  const stir = await openStir(config.stir);
  const subscriptionStore = openSubscriptions(storage, config, cluster);
  shutdown.add('subscriptions', () => subscriptionStore.close());
  const calls = openCalls({
    config,
    stir,
    prompts: sounds.prompts,
    voicemail: data.voicemail,
    subscriptionStore,
    directory,
    location,
    events,
    metrics,
    recordings,
    history: {
      going: (facts) => history.going(facts),
      moved: (id) => history.moved(id),
      over: (facts, media) => {
        history.over(facts, media);
        messages.ladder?.over(facts);
      },
    },
    callIds,
    late,
    drain,
    gate: servers.gate,
    duties,
    cluster,
    log,
  });
  const operations = openOperations({ calls, scenarios, directory, events, metrics, late, duties, cluster, log });

  servers.onConnectionLost((connection) => calls.switch.connectionLost(connection));
  const links = await openLinks(config, servers, calls.switch, log, messages.tap, cluster, duties);
  shutdown.add('links', () => links.close());
  late.media.bind(links.media);
  calls.switch.connect(links.sip, links.media);
  shutdown.add('recordings', () => recordings.close());
  await recordings.recover();
  shutdown.add('runs', () => scenarios.runner.stop('the node stops'));
  shutdown.add('calls', () => calls.close());

  const counts = async () => ({
    dialogs: calls.callstore.count,
    conferences: calls.conferences.count,
    conference_members: calls.conferences.members,
    endpoints: links.media.count,
    sip_servers: links.sip.usable,
    media_servers: links.media.usable,
    runs: scenarios.runner.running + operations.local.running,
    ...recordings.counts(),
    ...webhooks.counts(),
    registrations: location.count(),
    subscriptions: calls.switch.subscriptions,
    publications: calls.switch.publications,
    ...(cluster && { lent_phones: calls.switch.lentPhones }),
    trunks: calls.switch.registeredTrunks,
    ...(await servers.stats()),
  });
  const pools = () => ({
    database: storage.pool(),
    scripts: sandbox.pool(),
    event_sockets: links.media.pool(),
    endpoints: { open: links.media.count },
  });
  const trunks = () =>
    calls.switch.trunks().map(({ provider: { domain, code }, status, gateways }) => ({
      domain,
      trunk: code,
      ...status,
      gateways: gateways.map(({ gateway, status: { reachable } }) => ({ gateway: gateway.name, reachable })),
    }));
  let isReady = false;
  const rest = await openRest({
    isReady: () => isReady && calls.switch.ready,
    config,
    storage,
    data,
    events,
    sharedEvents,
    metrics,
    recordings,
    scenarios,
    sandbox,
    prompts: sounds.prompts,
    calls,
    history,
    runHistory,
    scenarioFigures,
    webhooks,
    ladder: messages.ladder,
    operations,
    duties,
    cluster,
    counts,
    drain,
    certificate,
    sipWebSockets: sipWebSockets(config, links.sip, servers.forwarded),
    log,
  });
  shutdown.add('REST service', () => rest.close());
  shutdown.add('drain', () => drain.close());
  if (cluster !== undefined) {
    await joinCluster(cluster, { config, http: rest.address, drain, subscriptions: () => calls.switch.subscriptions });
    shutdown.add('place in the cluster', () => cluster.leave());
    shutdown.add('turns', takeTurns(cluster, drain, links.sip, duties));
    inherit(cluster, { config, storage, calls, links, history, log });
  }
  isReady = true;
  shutdown.add('service manager', openServiceManager({ config, drain, run: programRunner(nursery), log }));
  giveBackAtRest(() => calls.callstore.count > 0);
  const webSocketPort = config.webSocket.port;
  return {
    httpAddress: rest.address,
    httpsAddress: rest.secureAddress,
    sipAddress: links.sip.addresses.join(', '),
    sipsAddress: links.sip.tlsAddresses.join(', '),
    webSocketUrls: webSocketPort === undefined ? '' : links.sip.webSocketUrls(webSocketPort).join(', '),
    demo: directory.domain('demo.local') !== undefined,
    hasAccounts: directory.domains().length > 0,
    drain,
  };
}
