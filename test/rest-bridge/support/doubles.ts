import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { asDomainName, type DomainName } from '../../../runtime/domain-name/index.ts';
import {
  createOperations,
  type OperationDefinition,
  OperationError,
  type OperationRecord,
  type OperationRequest,
  type Operations,
  type Scope,
} from '../../../runtime/operations/index.ts';
import { operations } from '../../../runtime/operations/registry.ts';
import { ArmedRuns } from '../../../runtime/runs/armed-runs.ts';
import type { RunView } from '../../../runtime/runs/index.ts';
import type { CallStore, DialogScope, DialogSelector } from '../../../runtime/callstore/callstore.ts';
import type { DialogView } from '../../../runtime/callstore/dialog-view.ts';
import { EventBus } from '../../../runtime/events/event-bus.ts';
import type { AvatarInfo, Accounts, UserProfile } from '../../../runtime/iam/accounts.ts';
import type { SessionSummary } from '../../../runtime/iam/session-rows.ts';
import type {
  Authentication,
  Credentials,
  Iam,
  LoginResult,
  ReachableDomain,
  Session,
} from '../../../runtime/iam/iam.ts';
import { type Model, NotFoundError } from '../../../runtime/model/index.ts';
import type { OperationRecords, RestDeps } from '../../../rest-bridge/deps.ts';
import type { Value } from '../../../runtime/language/values.ts';
import { NO_CONFERENCES, NO_DIRECTORY, NO_ROOMS } from '../../operations/support.ts';
import { silentLog } from '../../support/log.ts';
import { services } from '../../support/scenarios.ts';

/** Users alice and admin of demo.local and root of master, password `demo-<login>`; alice may only read calls. */
export class MemoryIam implements Iam {
  readonly sessions = new Map<string, Session>();
  readonly asked: string[] = [];
  /** Addresses that tried to log in. */
  readonly addresses: string[] = [];
  /** Seconds for which every address is banned; 0: not at all. */
  banSeconds = 0;
  /** Every use moves the expiry of a session. */
  renews = false;

  async login({ domain, login, pwd }: Credentials, kind: Session['kind'], ip: string): Promise<LoginResult> {
    this.addresses.push(ip);
    if (this.banSeconds > 0) return { ok: false, reason: 'banned', retryAfterSeconds: this.banSeconds };
    if (
      !['demo.local', 'other.local'].includes(domain) ||
      !['alice', 'admin'].includes(login) ||
      pwd !== `demo-${login}`
    ) {
      return { ok: false, reason: 'credentials' };
    }
    return { ok: true, ...this.#open(domain, login, kind) };
  }

  async loginByToken(): ReturnType<Iam['loginByToken']> {
    return { ok: false, reason: 'not_configured' };
  }

  async reachableDomains({ domain }: Session): Promise<readonly ReachableDomain[]> {
    return [{ domain, is_master: false }];
  }

  async changeDomain(session: Session, domain: string): Promise<Session | undefined> {
    return domain === session.domain ? session : undefined;
  }

  async cloneToToken(session: Session): Promise<{ session: Session; token: string }> {
    return this.#open(session.domain, session.login, 'token');
  }

  async authenticate(token: string): Promise<Authentication> {
    if (this.banSeconds > 0) return { ok: false, reason: 'banned', retryAfterSeconds: this.banSeconds };
    const session = this.sessions.get(token);
    return session ? { ok: true, session, renewed: this.renews } : { ok: false, reason: 'unknown' };
  }

  /** Nobody is told: what becomes of watched sessions is tested with the real ones. */
  watch(): () => void {
    return () => undefined;
  }

  async changePassword(): ReturnType<Iam['changePassword']> {
    return { ok: true };
  }

  async logout(sessionId: string): Promise<void> {
    for (const [token, { id }] of this.sessions) if (id === sessionId) this.sessions.delete(token);
  }

  allows(session: Session, method: string, path: string): boolean {
    this.asked.push(`${session.login} ${method} ${path}`);
    return session.login === 'admin' || method === 'GET';
  }

  #open(domain: string, login: string, kind: Session['kind']): { session: Session; token: string } {
    const token = randomUUID();
    const session: Session = {
      id: `id-${token}`,
      userId: `user-${login}`,
      login,
      name: login.toUpperCase(),
      domain: asDomainName(domain),
      domainIsMaster: false,
      roles: [login === 'admin' ? 'admin' : 'user'],
      kind,
      expires: 4_000_000_000_000,
    };
    this.sessions.set(token, session);
    return { session, token };
  }
}

/** Everybody has an account without tags and avatar. */
export class MemoryAccounts implements Accounts {
  async user(id: string): Promise<UserProfile> {
    const login = id.replace('user-', '');
    return { id, login, name: login.toUpperCase(), domainId: 'd-1', roles: [], tags: [], avatar: false };
  }

  async sessionsOf(): Promise<readonly SessionSummary[]> {
    return [];
  }

  async endSession(): Promise<boolean> {
    return false;
  }

  async endSessions(): Promise<void> {}

  async setAvatar(_userId: string, _info: AvatarInfo | false): Promise<void> {}

  async avatars(): Promise<readonly string[]> {
    return [];
  }

  async isAvatarInUse(): Promise<boolean> {
    return false;
  }
}

/** Dialogs of one domain; `callid` is the only selector it finds by, besides `dialogid`. */
export class MemoryCalls implements CallStore {
  readonly dialogs: DialogView[] = [];
  domain = 'demo.local';

  /** Ids of the dialogs in which the user of an own-calls path takes part. */
  readonly own = new Set<string>();

  async list({ domain, ownUserId }: DialogScope): Promise<readonly DialogView[]> {
    if (domain !== this.domain) return [];
    return ownUserId === undefined ? this.dialogs : this.dialogs.filter(({ dialogid }) => this.own.has(dialogid));
  }

  async read(scope: DialogScope, dialogid: string): Promise<DialogView | undefined> {
    return (await this.list(scope)).find((one) => one.dialogid === dialogid);
  }

  async lookup(scope: DialogScope, selector: DialogSelector): Promise<readonly string[]> {
    return (await this.list(scope))
      .filter((one) => one.dialogid === selector.dialogid || one.callids.includes(selector.callid ?? ''))
      .map(({ dialogid }) => dialogid);
  }
}

const operation = (
  name: string,
  parts: Partial<OperationDefinition>,
): readonly [name: string, definition: OperationDefinition] => [
  name,
  {
    name,
    summary: '',
    parameters: Type.Object({}),
    response: Type.Object({}),
    example: {},
    target: 'dialog',
    http: { on: 'calls', paths: ['domain', 'own'] },
    startsCall: false,
    plan: () => ({ touches: () => [] }),
    ...parts,
  },
];

/** The operations on conferences, as they are. */
const onConferences = operations.filter(({ http }) => http?.on === 'conferences');

/** Some operations on calls, whose bodies and dialogs are noted down in place of being done; and all on conferences. */
export class MemoryOperations {
  readonly definitions = new Map([
    operation('invite', {
      target: 'none',
      http: { on: 'calls', paths: ['domain', 'own'], verb: 'POST' },
      startsCall: true,
      parameters: Type.Object({
        from: Type.String(),
        to: Type.String(),
        callerid: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        response_mode: Type.Optional(Type.Union([0, 1, 2, 3, 4, 5].map((mode) => Type.Literal(mode)))),
        use_intercom: Type.Optional(Type.Boolean()),
      }),
    }),
    operation('lookup', { target: 'found' }),
    operation('refer', { parameters: Type.Object({ referto: Type.String() }) }),
    operation('transcribe', {
      target: 'none',
      http: { on: 'calls', paths: ['domain'] },
      parameters: Type.Object({ dialogid: Type.Optional(Type.String()) }),
    }),
    operation('delete', { target: 'dialogs', http: { on: 'calls', paths: ['domain', 'own'], verb: 'DELETE' } }),
    ...onConferences.map((definition) => [definition.name, definition] as const),
  ]);
  readonly invited: { body: unknown; scope: Scope }[] = [];
  readonly applied: { name: string; dialogid: string; body: unknown; scope: Scope }[] = [];
  readonly calls: MemoryCalls;
  answer: (body: unknown) => Promise<Value> = async () => ({ result: 'ok', ivrcallid: 'c-1' });

  readonly #onConferences: Operations;

  constructor(calls: MemoryCalls) {
    this.calls = calls;
    const nobody = (): never => {
      throw new Error('nobody is called here');
    };
    this.#onConferences = createOperations({
      definitions: onConferences,
      program: nobody,
      openCall: nobody,
      runServices: services(),
      scenario: nobody,
      calls,
      conferences: NO_CONFERENCES,
      rooms: NO_ROOMS,
      dialogs: { find: () => undefined },
      directory: NO_DIRECTORY,
      log: silentLog,
    });
  }

  async start(name: string, request: OperationRequest) {
    if (this.#onConferences.definitions.has(name)) return this.#onConferences.start(name, request);
    const { scope, dialogid, parameters } = request;
    if (name === 'invite') {
      this.invited.push({ body: parameters, scope });
      return { id: 'op-1', response: this.answer(parameters) };
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema says what a body may hold
    const body = (parameters ?? {}) as Record<string, string>;
    const found = await this.#find(scope, dialogid === undefined ? body : { dialogid });
    if (name === 'lookup') return { response: Promise.resolve(found) };
    const [first = ''] = found;
    this.applied.push({ name, dialogid: first, body: parameters, scope });
    if (name === 'delete')
      this.calls.dialogs.splice(
        this.calls.dialogs.findIndex((one) => one.dialogid === first),
        1,
      );
    return { response: Promise.resolve({ dialogid: first }) };
  }

  async preview(name: string, request: OperationRequest) {
    if (this.#onConferences.definitions.has(name)) return this.#onConferences.preview(name, request);
    const { scope, dialogid, parameters } = request;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema says what a body may hold
    const found = await this.#find(scope, dialogid === undefined ? (parameters as object) : { dialogid });
    return { dialogs: found.map((id) => ({ dialogid: id, legs: [] })) };
  }

  async #find(scope: Scope, selector: DialogSelector): Promise<string[]> {
    const found = await this.calls.lookup(scope, selector);
    if (found.length === 0) throw new OperationError({ kind: 'dialog_not_found' });
    return [...found];
  }
}

export function dialog(dialogid: string, more: Partial<DialogView> = {}): DialogView {
  return {
    acallid: `a-${dialogid}`,
    callids: [`a-${dialogid}`, `b-${dialogid}`],
    dialogid,
    esgdlg: '',
    esgcallid: '',
    inviteid: `i-${dialogid}`,
    status: 'dialog',
    legs: [
      {
        callid: `a-${dialogid}`,
        expirets: 'undefined',
        localuri: '<sip:102@demo.local>',
        remoteuri: '<sip:101@demo.local>',
        side: 'a',
      },
      {
        callid: `b-${dialogid}`,
        expirets: 1_800_000_000_000,
        localuri: '<sip:101@demo.local>',
        remoteuri: '<sip:102@demo.local>',
        side: 'b',
      },
    ],
    localuri: '<sip:102@demo.local>',
    remoteuri: '<sip:101@demo.local>',
    site: 'default',
    startts: 1_700_000_000_000,
    uris: ['<sip:101@demo.local>', '<sip:alice@demo.local>'],
    opts: {},
    ...more,
  };
}

/** Records of operations and runs, set by the test. */
export class MemoryRecords {
  readonly armed = new ArmedRuns();
  readonly byId = new Map<string, RunView>();
  /** Records of operations. */
  readonly done: OperationRecord[] = [];

  /** As the records of operations, which know domains. */
  get operations(): OperationRecords {
    const list = ({ domain, ownUserId }: Parameters<OperationRecords['list']>[0]): readonly OperationRecord[] =>
      this.done.filter(
        (record) => record.domain === domain && (ownUserId === undefined || record.userid === ownUserId),
      );
    return {
      list,
      read: (scope, id) => list(scope).find((record) => record.id === id),
    };
  }

  read(id: string): RunView | undefined {
    return this.byId.get(id);
  }

  inProgress(domain: DomainName): readonly RunView[] {
    return [...this.byId.values()].filter((run) => run.domain === domain);
  }

  async debug(scenario: string, _domain: DomainName, callerNumber: string) {
    if (scenario === 'blocks') return 'no_script';
    return scenario === 'hello'
      ? { ...this.armed.arm(asDomainName('demo.local'), scenario, callerNumber), port: 9229 }
      : undefined;
  }

  async debugged(domain: DomainName) {
    return this.armed.list(domain);
  }

  undebug(scenario: string, domain: DomainName) {
    return this.armed.disarm(domain, scenario);
  }
}

/** A bus whose listeners do not throw. */
export function newBus(): EventBus {
  return new EventBus({
    onListenerError: (error) => {
      throw error;
    },
  });
}

/** What a REST server needs of users and domains when a test is about something else. */
/** A data model without classes. */
export const NO_MODEL: Omit<Model, 'attachments'> & { readonly attachments: never } = {
  get attachments(): never {
    throw new Error('no files are kept here');
  },
  sweepFiles: async () => 0,
  classes: () => ({
    list: () => [],
    get: () => undefined,
    create: async () => Promise.reject(new Error('no classes are kept here')),
    update: async (id) => Promise.reject(new NotFoundError('Class', id)),
    remove: async (id) => Promise.reject(new NotFoundError('Class', id)),
  }),
  collection: (_domain, name) => {
    throw new NotFoundError('Class', name);
  },
  find: () => undefined,
  children: () => [],
  onChange: () => () => undefined,
  close: async () => {},
};

export const NO_DATA = {
  accounts: new MemoryAccounts(),
  avatars: { read: async () => undefined, write: async () => {}, remove: async () => false },
  webApps: async () => [],
  collections: {},
  hooks: { hook: async () => ({ kind: 'unknown' as const }) },
  scenarioRecordings: { find: () => undefined, remove: async () => false },
  voicemail: {
    list: async () => [],
    read: async () => undefined,
    mark: async () => false,
    remove: async () => false,
    content: async () => undefined,
  },
  recordings: {
    archive: { list: async () => [], count: async () => 0, read: async () => undefined, remove: async () => {} },
    store: { read: async () => undefined, remove: async () => {} },
  },
  model: NO_MODEL,
  events: newBus(),
  metrics: { contentType: 'text/plain; version=0.0.4', text: async () => 'ringmaster_alive 1\n' },
  history: {
    collection: async () => {
      throw new Error('there are no calls');
    },
  },
  runHistory: {
    collection: async () => {
      throw new Error('there are no runs');
    },
  },
  registrations: { list: () => [], remove: async () => {} },
  drain: {
    state: { state: 'accepting', calls: 0, runs: 0 },
    begin: () => {},
    cancel: () => false,
    ended: async () => {},
  },
  firstAnswers: { once: async (_request, work) => ({ answer: await work(), replayed: false }) },
  directory: { domain: () => undefined, domains: () => [], sipUsersOfUser: () => [] },
} satisfies Partial<RestDeps>;
