/** Runs the same tests over both kinds of storage. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Storage, type StorageOptions, openStorage } from '../../../runtime/storage/index.ts';
import { isPostgresInstalled, postgresServer } from './postgres-server.ts';

export type OpenOptions = Omit<StorageOptions, 'dataDir' | 'databaseUrl'>;

/** One place where data stay between openings. */
export interface Place {
  open(options?: OpenOptions): Promise<Storage>;
  /** The storage of this kind that all tests of a run share; whoever uses it empties it first. */
  shared(): Promise<Storage>;
}

/** For a query of tests about something else: on a busy machine PGlite's thread may get no processor for many seconds. */
const PATIENCE_MS = 50_000;

type Opening = () => Promise<Storage>;

const sharedFolders = temporaryFolders();
const sharedStorages = new Map<Storage['kind'], Promise<Storage>>();

function shared(kind: Storage['kind'], open: Opening): Promise<Storage> {
  const storage = sharedStorages.get(kind) ?? open();
  sharedStorages.set(kind, storage);
  return storage;
}

// At the root of the run, whichever file came first. Opening takes a second, so it is done once for all.
after('close the shared storages', async function () {
  this.timeout(60_000);
  for (const storage of sharedStorages.values()) await (await storage).close();
  sharedFolders.removeAll();
});

/** Folders of a describe block; its caller removes them when everything in them is closed. */
export function temporaryFolders(): { make(): string; removeAll(): void } {
  const folders: string[] = [];
  return {
    make() {
      const folder = mkdtempSync(join(tmpdir(), 'ringmaster-storage-'));
      folders.push(folder);
      return folder;
    },
    removeAll() {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Empties every table of ours, as a fresh store is. */
export async function clear(storage: Storage): Promise<void> {
  await sql`truncate domains, users, roles, sessions, sipusers, featurecodes, routes, registrations,
    settings, webapps, providers, recordingrules, recordings, ivrscripts, ivrscript_versions, svcscripts, svcscript_versions,
    script_modules, first_answers, webhooks, webhook_deliveries, prompts, agents,
    voice_messages, subscriptions`.execute(storage.db);
}

/**
 * Declares `body` once over PGlite and once over a PostgreSQL server. Without a server the latter is skipped, or fails
 * when RINGMASTER_REQUIRE_PEERS is 1.
 */
export function describeStorages(title: string, body: (newPlace: () => Promise<Place>) => void): void {
  describe(`${title} [PGlite]`, () => {
    const folders = temporaryFolders();
    body(() => {
      const dataDir = folders.make();
      return Promise.resolve({
        open: (options = {}) => openStorage({ dataDir, ...options }),
        shared: () =>
          shared('pglite', () => openStorage({ dataDir: sharedFolders.make(), queryTimeoutMs: PATIENCE_MS })),
      });
    });
    after(() => folders.removeAll());
  });
  describePostgres(title, body);
}

/** Declares `body` over a PostgreSQL server only. */
export function describePostgres(title: string, body: (newPlace: () => Promise<Place>) => void): void {
  // Not by a hook: those of the block would run all the same, and miss what was never opened.
  const isSkipped = !isPostgresInstalled() && process.env['RINGMASTER_REQUIRE_PEERS'] !== '1';
  const declare = isSkipped ? describe.skip : describe;
  declare(`${title} [PostgreSQL]`, () => {
    body(async () => {
      const server = await postgresServer();
      if (server === undefined) throw new Error('PostgreSQL is not installed.');
      const databaseUrl = await server.createDatabase();
      const open = (options: OpenOptions = {}): Promise<Storage> =>
        openStorage({ dataDir: 'unused', databaseUrl, poolSize: 4, ...options });
      return { open, shared: () => shared('postgres', open) };
    });
  });
}

/** Empties a storage before each test of a describe block: the shared one, or with options one of the block's own. */
export function withStorage(newPlace: () => Promise<Place>, options?: OpenOptions): () => Storage {
  let storage: Storage | undefined;
  const get = (): Storage => {
    if (storage === undefined) throw new Error('The storage opens before the first test.');
    return storage;
  };
  before(async function () {
    // The first one starts a server.
    this.timeout(60_000);
    const place = await newPlace();
    storage = options === undefined ? await place.shared() : await place.open(options);
  });
  beforeEach(() => clear(get()));
  after(async () => {
    if (options !== undefined) await storage?.close();
  });
  return get;
}

/** Resolves to the error that `promise` rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('It succeeded.');
}
