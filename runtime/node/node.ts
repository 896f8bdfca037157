/** The composition root: configuration in, a running node out. The only room that wires the others together. */
import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { EventBus, modelEvents } from '../events/index.ts';
import { giveBackAtRest } from '../memory/index.ts';
import { Metrics } from '../metrics/index.ts';
import { Nursery } from '../processes/index.ts';
import { openStorage } from '../storage/index.ts';
import { openCalls } from './calls.ts';
import { openData } from './data.ts';
import { LateParts } from './late.ts';
import { openLinks } from './links.ts';
import { openOperations } from './operations.ts';
import { openRecordings } from './recordings.ts';
import { openRest } from './rest.ts';
import { openScenarios, openScripting } from './scenarios.ts';
import { openServers } from './servers.ts';
import { Shutdown } from './shutdown.ts';

/** A running node. */
export interface Node {
  readonly httpAddress: string;
  readonly sipAddress: string;
  /** True when the demo domain exists. */
  readonly demo: boolean;
  /** False when no domain exists: nobody can log in, and no phone can register. */
  readonly hasAccounts: boolean;
  /** Ends calls and closes all parts. Idempotent. */
  stop(): Promise<void>;
  /** Settles when an embedded server ended by itself: the node cannot continue. */
  readonly failed: Promise<Error>;
}

/**
 * Starts a node.
 * @throws ListenError for a taken port; StorageLockedError and others of storage; SipLinkError, MediaLinkError
 */
export async function startNode(config: Config): Promise<Node> {
  const log = pino({ level: config.logLevel });
  const shutdown = new Shutdown((err, what) => log.error({ err }, `closing ${what} failed`));
  try {
    return await compose(config, log, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function compose(config: Config, log: Logger, shutdown: Shutdown): Promise<Node> {
  const failed = Promise.withResolvers<Error>();
  const late = new LateParts();
  // The only process that this one starts directly, before the first call, which it would delay.
  const nursery = new Nursery();
  nursery.open();
  shutdown.add('nursery', () => nursery.close());
  const { storage, servers, scripting } = await openOutside(config, nursery, log, shutdown, (error) => {
    if (!shutdown.begun) failed.resolve(error);
  });
  const data = await openData({
    config,
    storage,
    checkScript: scripting.compiler.check,
    confirmToken: (code, token) => late.confirmToken.part(code, token),
    log,
  });
  shutdown.add('data', () => data.close());
  const { directory, location, model } = data;

  const events = new EventBus({
    onListenerError: (err, { class: name, type }) =>
      log.error({ err, class: name, type }, 'a listener of an event failed'),
  });
  model.onChange(modelEvents(events, (id) => directory.domainById(id)?.name));
  const recordings = await openRecordings({ config, storage, directory, events, nursery, late, log });
  const scenarios = await openScenarios({
    config,
    scripting,
    storage,
    directory,
    model,
    events,
    recordings,
    late,
    log,
  });
  shutdown.add('scenarios', () => scenarios.close());
  const metrics = new Metrics({ counts: () => counts() });
  const calls = openCalls({ config, directory, location, events, metrics, recordings, late, log });
  const operations = openOperations({ calls, scenarios, directory, events, metrics, late, log });

  const links = await openLinks(config, servers, calls.switch, log);
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
    runs: scenarios.runner.running + operations.running,
    ...recordings.counts(),
    registrations: location.count(),
    trunks: calls.switch.registeredTrunks,
    ...(await servers.stats()),
  });
  const rest = await openRest({
    config,
    storage,
    data,
    events,
    metrics,
    recordings,
    scenarios,
    calls,
    operations,
    counts,
    log,
  });
  shutdown.add('REST service', () => rest.close());
  giveBackAtRest(() => calls.callstore.count > 0);
  return {
    httpAddress: rest.address,
    sipAddress: links.sip.addresses.join(', '),
    demo: directory.domain('demo.local') !== undefined,
    hasAccounts: directory.domains().length > 0,
    stop: () => shutdown.run(),
    failed: failed.promise,
  };
}

/**
 * Opens the database, the servers and the script processes concurrently. A taken port is reported before an error of
 * the database.
 */
async function openOutside(
  config: Config,
  nursery: Nursery,
  log: Logger,
  shutdown: Shutdown,
  exited: (error: Error) => void,
) {
  const { dataDir, databaseUrl } = config;
  const openingStorage = openStorage({ dataDir, log, ...(databaseUrl === undefined ? {} : { databaseUrl }) });
  const openingServers = openServers(config, nursery, log, exited);
  const openingScripting = openScripting(config, nursery, log);
  const [storage, servers, scripting] = await Promise.allSettled([openingStorage, openingServers, openingScripting]);
  if (storage.status === 'fulfilled') shutdown.add('storage', () => storage.value.close());
  if (servers.status === 'fulfilled') shutdown.add('servers', () => servers.value.close());
  if (scripting.status === 'fulfilled') shutdown.add('script processes', () => scripting.value.close());
  return { servers: await openingServers, storage: await openingStorage, scripting: await openingScripting };
}
