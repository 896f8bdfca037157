/** The threads, processes and database of a node. A start begins with them. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import { Nursery } from '../processes/index.ts';
import type { LazyProcesses } from '../sandbox/index.ts';
import type { Storage } from '../storage/index.ts';
import { beginPglite, lockDataDir } from '../storage/early.ts';
import { type LiveCertificate, openCertificate } from './certificate.ts';
import type { compose } from './compose.ts';
import type { Scripting } from './scenarios.ts';
import { openServers, type Servers } from './servers.ts';
import type { Shutdown } from './shutdown.ts';

export interface Outside {
  /** Starts programs. */
  readonly nursery: Nursery;
  readonly storage: Storage;
  readonly servers: Servers;
  /** For TLS of SIP and HTTP, if there is one. */
  readonly certificate: LiveCertificate | undefined;
  /** Checks and runs scripts. */
  readonly sandbox: LazyProcesses;
  readonly scripting: Scripting;
}

/**
 * Opens the servers, the database and the script processes concurrently, and meanwhile loads the modules of the other parts. A
 * taken port is reported before an error of the database.
 * @param exited called when an embedded server ends by itself
 * @throws ConfigError for an unusable certificate; ListenError for a taken port; StorageLockedError and others of storage;
 *   SandboxError
 */
export async function openOutside(
  config: Config,
  log: Logger,
  shutdown: Shutdown,
  exited: (error: Error) => void,
): Promise<Outside & { readonly compose: typeof compose }> {
  const { dataDir, databaseUrl } = config;
  const certificate = config.tls === undefined ? undefined : await openCertificate(config.tls, log);
  if (certificate !== undefined) shutdown.add('certificate', () => certificate.close());
  // First: it takes longest.
  const begun = databaseUrl === undefined ? beginPglite({ dataDir, log }) : undefined;
  // Reported by `openStorage`.
  begun?.catch(() => undefined);
  // PGlite has locked the folder itself.
  const locking = databaseUrl === undefined ? undefined : lockDataDir(dataDir);
  // The only process that this one starts directly, before the first call, which it would delay.
  const nursery = new Nursery();
  nursery.open();
  shutdown.add('nursery', () => nursery.close());
  const openingServers = openServers(config, certificate, nursery, log, exited);
  // Loading keeps this thread busy: the database's thread is started before.
  const loadingStorage = turn().then(() => import('../storage/index.ts'));
  const openingStorage = loadingStorage.then(({ openStorage }) => openStorage({ dataDir, databaseUrl, log }, begun));
  const openingSandbox = loadingStorage.then(() => openScriptProcesses(config, nursery, log));
  const loadingParts = loadingStorage.then(turn).then(() => import('./compose.ts'));
  // The platform's own scenarios are checked while the database opens and is asked.
  const openingScripting = Promise.all([openingSandbox, loadingParts]).then(async ([sandbox]) =>
    (await import('./scenarios.ts')).openScripting(config, sandbox, log),
  );
  const [lock, servers, storage, sandbox] = await Promise.allSettled([
    locking,
    openingServers,
    openingStorage,
    openingSandbox,
    openingScripting,
  ]);
  if (lock.status === 'fulfilled') shutdown.add('data directory', () => lock.value?.release());
  if (storage.status === 'fulfilled') shutdown.add('storage', () => storage.value.close());
  if (servers.status === 'fulfilled') shutdown.add('servers', () => servers.value.close());
  if (sandbox.status === 'fulfilled') shutdown.add('script processes', () => sandbox.value.close());
  return {
    nursery,
    certificate,
    servers: await openingServers,
    storage: (await locking, await openingStorage),
    sandbox: await openingSandbox,
    scripting: await openingScripting,
    compose: (await loadingParts).compose,
  };
}

async function openScriptProcesses(config: Config, nursery: Nursery, log: Logger): Promise<LazyProcesses> {
  const { openLazySandbox } = await import('../sandbox/index.ts');
  const { debugPort: debuggerPort } = config;
  return await openLazySandbox({
    nursery,
    spareOne: config.scriptProcessors === 'spare-one',
    onDiagnostic: (message, details) => log.warn(details, message),
    ...(debuggerPort === undefined ? {} : { debuggerPort }),
  });
}
