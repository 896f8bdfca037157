import { FileStore, RecordArchive } from '../../../runtime/recording/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { App } from '../../../rest-bridge/app.ts';
import type { RestDeps } from '../../../rest-bridge/deps.ts';
import { domainCenter } from '../../../rest-bridge/domain-center/index.ts';
import { ClassResource } from '../../../rest-bridge/model/class-resource.ts';
import { createRestServer } from '../../../rest-bridge/server.ts';
import { webAppsOf } from '../../../rest-bridge/web-apps.ts';
import { modelEvents } from '../../../runtime/events/model-events.ts';
import { type LiveDirectory, openDirectory } from '../../../runtime/domain/index.ts';
import {
  type ConfirmToken,
  createDemoData,
  createIam,
  type IamService,
  StoredAvatars,
} from '../../../runtime/iam/index.ts';
import { AuditLog, type Model, openModel } from '../../../runtime/model/index.ts';
import { type FileStore as AttachmentFiles, FolderFiles } from '../../../runtime/storage/files/index.ts';
import { FirstAnswers } from '../../../runtime/idempotency/first-answers.ts';
import { databaseState, openStorage, type Storage } from '../../../runtime/storage/index.ts';
import { MemoryCalls, MemoryOperations, MemoryRecords, NO_DATA, newBus } from './doubles.ts';
import { type Call, type Reply, request } from './rest-node.ts';
import { noConferences } from './no-conferences.ts';

/** A login of the tests, `login@domain`; the password is `demo-<login>`. */
export type Who = `${string}@${string}`;

export interface DataNodeOptions extends Partial<RestDeps> {
  readonly confirmToken?: ConfirmToken;
  /** A PostgreSQL server instead of PGlite. */
  readonly databaseUrl?: string | undefined;
  /** Default: a folder. Attachments may be 1,000,000 bytes. */
  readonly files?: AttachmentFiles;
  /** Another node has made the demo data in this database already. */
  readonly joins?: boolean;
}

/**
 * A REST server over the real users, sessions and collections in a database of its own. Beside the demo data there is
 * the domain `other.local` with the administrator `eve`, and `root` in the master domain.
 */
export class DataNode {
  readonly folder = mkdtempSync(join(tmpdir(), 'ringmaster-rest-'));
  readonly log: string[] = [];
  readonly #tokens = new Map<Who, string>();
  storage!: Storage;
  directory!: LiveDirectory;
  iam!: IamService;
  model!: Model;
  readonly events = newBus();
  calls = new MemoryCalls();
  app!: App;
  port = 0;

  static async start(options: DataNodeOptions = {}): Promise<DataNode> {
    const node = new DataNode();
    node.storage = await openStorage({ dataDir: node.folder, databaseUrl: options.databaseUrl });
    try {
      return await node.#start(options);
    } catch (error) {
      // An open database would keep the tests from ending.
      await node.storage.close();
      throw error;
    }
  }

  async #start({ confirmToken, databaseUrl: _url, files, joins = false, ...deps }: DataNodeOptions): Promise<this> {
    if (!joins) await createDemoData(this.storage);
    this.directory = await openDirectory(this.storage);
    this.iam = await createIam(this.storage, this.directory, { confirmToken, allowList: ['127.0.0.1'] });
    const store = files ?? new FolderFiles(join(this.folder, 'files'));
    this.model = await openModel(this.storage, {
      files: store,
      usesFile: (hasha) => this.iam.accounts.isAvatarInUse(hasha),
      maxFileBytes: 1_000_000,
    });
    this.model.onChange(modelEvents(this.events, (id) => this.directory.domainById(id)?.name));
    if (!joins) await this.#addOthers();
    const records = new MemoryRecords();
    const database = databaseState(this.storage);
    this.app = await createRestServer({
      iam: this.iam,
      accounts: this.iam.accounts,
      avatars: new StoredAvatars(this.iam.accounts, {
        files: store,
        suspect: (hashes) => this.model.attachments.suspect(hashes),
        former: new FolderFiles(join(this.folder, 'avatars')),
      }),
      webApps: webAppsOf(this.directory),
      events: this.events,
      collections: {
        ...domainCenter(this.directory, this.iam),
        '/domain/classes': new ClassResource(this.model, this.directory),
      },
      registrations: NO_DATA.registrations,
      history: NO_DATA.history,
      runHistory: NO_DATA.runHistory,
      drain: NO_DATA.drain,
      scenarioRecordings: NO_DATA.scenarioRecordings,
      voicemail: NO_DATA.voicemail,
      recordings: {
        archive: new RecordArchive(this.storage),
        store: await FileStore.open(join(this.folder, 'archive')),
      },
      model: this.model,
      audit: new AuditLog(this.model),
      hooks: NO_DATA.hooks,
      directory: this.directory,
      calls: this.calls,
      ...noConferences(this.calls),
      operations: new MemoryOperations(this.calls),
      firstAnswers: new FirstAnswers(this.storage),
      metrics: NO_DATA.metrics,
      operationRecords: records.operations,
      runs: records,
      health: async () => ({ ok: true, roles: ['mware'], counts: {}, database: await database() }),
      log: pino({ level: 'error' }, { write: (line: string) => void this.log.push(line) }),
      ...deps,
    });
    await this.app.listen({ host: '127.0.0.1', port: 0 });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is an AddressInfo
    this.port = (this.app.server.address() as AddressInfo).port;
    return this;
  }

  async close(): Promise<void> {
    this.app.server.closeAllConnections();
    await this.app.close();
    await this.model.close();
    await this.iam.close();
    await this.storage.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Id of a domain. */
  domainId(name: string): string {
    const id = this.directory.domain(name)?.id;
    if (id === undefined) throw new Error(`There is no domain ${name}.`);
    return id;
  }

  call(method: string, path: string, call: Call = {}): Promise<Reply> {
    return request(this.port, method, path, call);
  }

  /** Calls below `/rest/v1` as a user; each user logs in once. */
  async as(who: Who, method: string, path: string, body?: unknown, headers: Call['headers'] = {}): Promise<Reply> {
    const authorization = `Bearer ${await this.token(who)}`;
    return this.call(method, `/rest/v1${path}`, {
      ...(body !== undefined && { body }),
      headers: { authorization, ...headers },
    });
  }

  async token(who: Who): Promise<string> {
    const token = this.#tokens.get(who) ?? (await this.login(who));
    this.#tokens.set(who, token);
    return token;
  }

  /** A new session's token. */
  async login(who: Who): Promise<string> {
    const [login = '', domain = ''] = who.split('@');
    const result = await this.iam.login({ domain, login, pwd: `demo-${login}` }, 'token', '127.0.0.1');
    if (!result.ok) throw new Error(`${who}: ${result.reason}`);
    return result.token;
  }

  async #addOthers(): Promise<void> {
    const master = this.domainId('master');
    const other = await this.directory.collections.domains.create({ name: 'other.local', parent_id: master });
    const { users } = this.iam.collections;
    await users.create({ domain_id: other.id, login: 'eve', pwd: 'demo-eve', roles: ['admin'] });
    await users.create({ domain_id: master, login: 'root', pwd: 'demo-root', roles: ['admin'] });
  }
}
