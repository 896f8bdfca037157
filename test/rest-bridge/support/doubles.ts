import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { CallStore, DialogSelector } from '../../../runtime/callstore/callstore.ts';
import type { DialogView } from '../../../runtime/callstore/dialog-view.ts';
import { EventBus } from '../../../runtime/events/event-bus.ts';
import type { AvatarInfo, Accounts, SessionSummary, UserProfile } from '../../../runtime/iam/accounts.ts';
import type { Credentials, Iam, LoginResult, ReachableDomain, Session } from '../../../runtime/iam/iam.ts';
import type { OperationAnswer, CallScope, OperationRecords, Operations, RestDeps } from '../../../rest-bridge/deps.ts';
import { RestError } from '../../../rest-bridge/errors.ts';
import { type Model, NotFoundError } from '../../../runtime/model/index.ts';

/** Users alice and admin of demo.local and root of master, password `demo-<login>`; alice may only read calls. */
export class MemoryIam implements Iam {
  readonly sessions = new Map<string, Session>();
  readonly asked: string[] = [];
  /** Addresses that tried to log in. */
  readonly addresses: string[] = [];
  /** Seconds for which every address is banned; 0: not at all. */
  banSeconds = 0;

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

  async authenticate(token: string): ReturnType<Iam['authenticate']> {
    if (this.banSeconds > 0) return { ok: false, reason: 'banned', retryAfterSeconds: this.banSeconds };
    const session = this.sessions.get(token);
    return session ? { ok: true, session } : { ok: false, reason: 'unknown' };
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
      domain,
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

  async setAvatar(_userId: string, _info: AvatarInfo | false): Promise<void> {}

  async isAvatarInUse(): Promise<boolean> {
    return false;
  }
}

/** Dialogs of one domain; `callid` is the only selector it finds by, besides `dialogid`. */
export class MemoryCalls implements CallStore {
  readonly dialogs: DialogView[] = [];
  readonly selectors: DialogSelector[] = [];
  domain = 'demo.local';

  async list(domain: string): Promise<readonly DialogView[]> {
    return domain === this.domain ? this.dialogs : [];
  }

  async read(domain: string, dialogid: string): Promise<DialogView | undefined> {
    return (await this.list(domain)).find((one) => one.dialogid === dialogid);
  }

  async lookup(domain: string, selector: DialogSelector): Promise<readonly string[]> {
    this.selectors.push(selector);
    return (await this.list(domain))
      .filter((one) => one.dialogid === selector.dialogid || one.callids.includes(selector.callid ?? ''))
      .map(({ dialogid }) => dialogid);
  }
}

export class MemoryOperations implements Operations {
  readonly schemas = {
    refer: Type.Object({ referto: Type.String() }),
    referreplaces: Type.Object({}),
    setup_bindings: Type.Object({}),
    invite: Type.Object({
      from: Type.String(),
      to: Type.String(),
      callerid: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      response_mode: Type.Optional(Type.Union([0, 1, 2, 3, 4, 5].map((mode) => Type.Literal(mode)))),
      use_intercom: Type.Optional(Type.Boolean()),
    }),
  };
  readonly invited: { body: unknown; scope: CallScope }[] = [];
  readonly applied: { name: string; dialogid: string; body: unknown; scope: CallScope }[] = [];
  /** Dialogs in which the user takes part. */
  readonly own = new Set<string>();
  readonly calls: MemoryCalls;
  answer: (body: unknown) => Promise<OperationAnswer> = async () => ({
    status: 200,
    body: { result: 'ok', ivrcallid: 'c-1' },
    operationId: 'op-1',
  });

  constructor(calls: MemoryCalls) {
    this.calls = calls;
  }

  async invite(body: unknown, scope: CallScope): Promise<OperationAnswer> {
    this.invited.push({ body, scope });
    return this.answer(body);
  }

  async onDialog(
    name: string,
    target: Readonly<Record<string, unknown>>,
    body: unknown,
    scope: CallScope,
  ): Promise<OperationAnswer> {
    const [dialogid] = await this.lookup(target, scope);
    if (dialogid === undefined) throw new RestError('DIALOG_NOT_FOUND');
    this.applied.push({ name, dialogid, body, scope });
    if (name === 'delete')
      this.calls.dialogs.splice(
        this.calls.dialogs.findIndex((one) => one.dialogid === dialogid),
        1,
      );
    return { status: 200, body: { dialogid } };
  }

  async lookup(selector: DialogSelector, { domain, ownUserId }: CallScope): Promise<readonly string[]> {
    const ids = await this.calls.lookup(domain, selector);
    return ownUserId === undefined ? ids : ids.filter((id) => this.own.has(id));
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
  readonly byId = new Map<string, { readonly id: string; readonly domain: string }>();

  /** As the records of operations, which know domains. */
  get operations(): OperationRecords {
    return {
      read: (domain, id) => {
        const record = this.byId.get(id);
        return record?.domain === domain ? record : undefined;
      },
    };
  }

  read(id: string): { readonly id: string; readonly domain: string } | undefined {
    return this.byId.get(id);
  }

  runs(): readonly { readonly domain: string }[] {
    return [...this.byId.values()];
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
export const NO_MODEL: Model = {
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
  model: NO_MODEL,
  events: newBus(),
  directory: { domain: () => undefined, domains: () => [] },
} satisfies Partial<RestDeps>;
