/** Operations on the calls of all nodes: each runs where its dialog lives. */
import type { DialogSelector } from '../../callstore/index.ts';
import { asDomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';
import {
  OperationError,
  type OperationPreview,
  type OperationRecord,
  type OperationRequest,
  type Operations,
  type Scope,
  selectorOf,
  slaveMoves,
  type StartedOperation,
} from '../../operations/index.ts';
import { Sensitive } from '../../runs/index.ts';
import { NodeGoneError } from '../errors.ts';
import type { Nodes } from '../nodes.ts';
import type { ClusterConferences } from '../rooms/cluster-conferences.ts';
import type { ClusterCallStore, OwnedDialog } from './cluster-callstore.ts';
import type { ClusterDialogs } from './cluster-dialogs.ts';
import { told, type ToldError, toldError } from './operation-errors.ts';

const START = 'operations.start';
const PREVIEW = 'operations.preview';
const READ = 'operations.read';
const LIST = 'operations.list';

/** Milliseconds for the answer of an operation: phones may ring for an hour, twice. The end of its node is noticed at once. */
const START_MS = 7_500_000;
const PREVIEW_MS = 5000;
/** Seconds after which a caller who was answered 503 should ask again. */
const RETRY_AFTER_SECONDS = 1;

/** What is told of a request. */
interface ToldRequest extends Omit<OperationRequest, 'sensitive'> {
  /** Sensitive values of the scenario that asks, which the record must not show. */
  readonly secrets?: readonly string[];
}

interface Asked {
  readonly name: string;
  readonly request: ToldRequest;
}

/** The outcome of a start at another node. */
interface Started {
  readonly id?: string;
  readonly answer?: Value;
  readonly error?: ToldError;
}

/** The dialogs of one node among those of a request. */
interface Share {
  /** Undefined: this node. */
  readonly owner: string | undefined;
  readonly targets: string[];
}

/** The dialogs and conferences of all nodes. */
export interface ClusterStores {
  readonly calls: ClusterCallStore;
  readonly conferences: ClusterConferences;
  readonly dialogs: ClusterDialogs;
}

/** Records of the operations of all nodes. */
export interface ClusterRecords {
  read(scope: Scope, id: string): Promise<OperationRecord | undefined>;
  list(scope: Scope): Promise<readonly OperationRecord[]>;
}

export class ClusterOperations implements Pick<Operations, 'definitions' | 'start' | 'preview'> {
  readonly definitions: Operations['definitions'];
  readonly #local: Operations;
  readonly #calls: ClusterCallStore;
  readonly #conferences: ClusterConferences;
  readonly #dialogs: ClusterDialogs;
  readonly #nodes: Nodes;
  readonly #callNode: (() => string | undefined) | undefined;

  /**
   * Also answers the other nodes from now on.
   * @param callNode the node that starts calls; undefined: this one does
   */
  constructor(local: Operations, stores: ClusterStores, nodes: Nodes, callNode?: () => string | undefined) {
    this.definitions = local.definitions;
    this.#local = local;
    this.#calls = stores.calls;
    this.#conferences = stores.conferences;
    this.#dialogs = stores.dialogs;
    this.#nodes = nodes;
    this.#callNode = callNode;
    nodes.serve(START, (asked) => this.#startHere(asked as Asked));
    nodes.serve(PREVIEW, async (asked) => {
      const { name, request } = asked as Asked;
      try {
        return { preview: await local.preview(name, requestIn(request)) };
      } catch (error) {
        return { error: told(error) };
      }
    });
    nodes.serve(READ, (asked) => local.read(scopeIn(asked), (asked as { readonly id: string }).id) ?? null);
    nodes.serve(LIST, (asked) => local.list(scopeIn(asked)));
  }

  /** @throws as `Operations.start`; OperationError `node_unreachable` when the node of the dialog does not answer */
  async start(name: string, request: OperationRequest): Promise<StartedOperation> {
    const shares = await this.#shares(name, request);
    const [first, second] = shares;
    if (first === undefined) return await this.#local.start(name, request);
    if (second === undefined) return await this.#startAt(first, name, request);
    const started = await Promise.all(shares.map((share) => this.#startAt(share, name, request)));
    const id = started.find((each) => each.id !== undefined)?.id;
    const response = Promise.all(started.map((each) => each.response)).then(merged);
    return { response, ...(id !== undefined && { id }) };
  }

  /** @throws as `start` */
  async preview(name: string, request: OperationRequest): Promise<OperationPreview> {
    const shares = await this.#shares(name, request);
    const [first] = shares;
    if (first === undefined) return await this.#local.preview(name, request);
    const previews = await Promise.all(shares.map((share) => this.#previewAt(share, name, request)));
    const calls = previews.flatMap((each) => each.calls ?? []);
    const hasCalls = previews.some((each) => each.calls !== undefined);
    return { dialogs: previews.flatMap(({ dialogs }) => dialogs), ...(hasCalls && { calls }) };
  }

  /** The records of all nodes. */
  get records(): ClusterRecords {
    return {
      read: async (scope, id) => {
        const own = this.#local.read(scope, id);
        if (own !== undefined) return own;
        const answers = await this.#nodes.askAll<OperationRecord | null>(READ, { scope, id });
        return answers.find(({ answer }) => answer !== null)?.answer ?? undefined;
      },
      list: async (scope) => {
        const answers = await this.#nodes.askAll<readonly OperationRecord[]>(LIST, { scope });
        const all = [this.#local.list(scope), ...answers.map(({ answer }) => answer)];
        return all.flat().toSorted((a, b) => a.startts - b.startts);
      },
    };
  }

  /** Whose dialogs the request means. Empty: it names none, or wrongly, and this node answers. */
  async #shares(name: string, request: OperationRequest): Promise<readonly Share[]> {
    const { target, startsCall } = this.definitions.get(name) ?? {};
    if (target === 'none' && startsCall === true) return this.#callShare();
    if (target === 'conference' || target === 'participant') return await this.#room(request);
    if (target !== 'dialog' && target !== 'dialogs' && target !== 'found') return [];
    const selector = selectorIn(request);
    if (selector === undefined) return [];
    const found = await this.#calls.owned(request.scope, selector);
    if (found.length === 0) return [];
    // Several where one is meant: this node says so, with all ids.
    if (target === 'dialog' && found.length > 1)
      return [{ owner: undefined, targets: found.map(({ dialogid }) => dialogid) }];
    const slave = await this.#movingSlave(found[0], request);
    if (slave !== undefined) return [{ owner: slave.owner, targets: found.map(({ dialogid }) => dialogid) }];
    const shares = new Map<string | undefined, string[]>();
    for (const { dialogid, owner } of found) {
      const targets = shares.get(owner) ?? [];
      targets.push(dialogid);
      shares.set(owner, targets);
    }
    return [...shares].map(([owner, targets]) => ({ owner, targets }));
  }

  /** The node that starts a call. Empty: this one. */
  #callShare(): readonly Share[] {
    if (this.#callNode === undefined) return [];
    const owner = this.#callNode();
    if (owner !== undefined) return [{ owner, targets: [] }];
    const reason = 'no node that accepts calls has the role b2b (RINGMASTER_ROLES)';
    throw new OperationError({ kind: 'node_unreachable', reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** The node of a conference. Empty: this one answers. */
  async #room({ scope, confid, parameters }: OperationRequest): Promise<readonly Share[]> {
    const named = confid ?? (parameters as { readonly confid?: unknown } | null | undefined)?.confid;
    if (typeof named !== 'string') return [];
    const owner = await this.#conferences.owner(scope, named);
    return owner === undefined ? [] : [{ owner, targets: [] }];
  }

  /** The second dialog of a join, when its party is the one that moves: the operation runs at its node. */
  async #movingSlave(
    master: OwnedDialog | undefined,
    { scope, parameters }: OperationRequest,
  ): Promise<OwnedDialog | undefined> {
    const selector = selectorAmong(parameters, 'slave');
    if (selector === undefined || master === undefined) return undefined;
    const [slave, second] = await this.#calls.owned(scope, selector);
    // None, or several: the operation says so.
    if (slave === undefined || second !== undefined || slave.owner === master.owner) return undefined;
    const seen = await this.#dialogs.find(scope.domain, master.dialogid);
    const { masterby } = parameters as { readonly masterby?: unknown };
    return seen !== undefined && slaveMoves(seen, masterby) ? slave : undefined;
  }

  async #startAt({ owner, targets }: Share, name: string, request: OperationRequest): Promise<StartedOperation> {
    const { dialogid } = request;
    if (owner === undefined)
      return await this.#local.start(name, dialogid === undefined ? { ...request, targets } : request);
    const started = (await this.#ask(
      owner,
      START,
      { name, request: toldRequest(request, targets) },
      START_MS,
    )) as Started;
    const { id, answer = null, error } = started;
    // Refused before it began, as at this node.
    if (error !== undefined && id === undefined) throw toldError(error);
    const response = error === undefined ? Promise.resolve(answer) : Promise.reject(toldError(error));
    // Its caller may look at the id first.
    response.catch(() => undefined);
    return { response, ...(id !== undefined && { id }) };
  }

  async #previewAt({ owner, targets }: Share, name: string, request: OperationRequest): Promise<OperationPreview> {
    if (owner === undefined)
      return await this.#local.preview(name, request.dialogid === undefined ? { ...request, targets } : request);
    const answer = await this.#ask(owner, PREVIEW, { name, request: toldRequest(request, targets) }, PREVIEW_MS);
    const { preview, error } = answer as { readonly preview: OperationPreview; readonly error?: ToldError };
    if (error !== undefined) throw toldError(error);
    return preview;
  }

  async #ask(owner: string, method: string, asked: Asked, timeoutMs: number): Promise<unknown> {
    try {
      return await this.#nodes.ask(owner, method, asked, timeoutMs);
    } catch (error) {
      if (!(error instanceof NodeGoneError)) throw error;
      const reason = `the node of the call ended before it answered (${error.message})`;
      throw new OperationError({ kind: 'node_unreachable', reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
  }

  async #startHere({ name, request }: Asked): Promise<Started> {
    let id: string | undefined;
    try {
      const started = await this.#local.start(name, requestIn(request));
      ({ id } = started);
      return { ...(id !== undefined && { id }), answer: await started.response };
    } catch (error) {
      return { ...(id !== undefined && { id }), error: told(error) };
    }
  }
}

/** The selector of a request; undefined for none, or an invalid one. */
function selectorIn({ dialogid, parameters }: OperationRequest): DialogSelector | undefined {
  return dialogid === undefined ? selectorAmong(parameters) : { dialogid };
}

function selectorAmong(parameters: unknown, prefix = ''): DialogSelector | undefined {
  if (typeof parameters !== 'object' || parameters === null) return undefined;
  try {
    return selectorOf(parameters as Readonly<Record<string, unknown>>, prefix).selector;
  } catch {
    return undefined;
  }
}

function toldRequest(request: OperationRequest, targets: readonly string[]): ToldRequest {
  const { sensitive, ...rest } = request;
  const secrets = sensitive === undefined || sensitive.isEmpty ? {} : { secrets: sensitive.texts };
  return { ...rest, ...secrets, ...(rest.dialogid === undefined && { targets }) };
}

function requestIn({ secrets, ...request }: ToldRequest): OperationRequest {
  const scope = scopeIn(request);
  if (secrets === undefined) return { ...request, scope };
  const sensitive = new Sensitive();
  for (const secret of secrets) sensitive.add(secret);
  return { ...request, scope, sensitive };
}

function scopeIn(asked: unknown): Scope {
  const { domain, ownUserId } = (asked as { readonly scope: { readonly domain: string; readonly ownUserId?: string } })
    .scope;
  return { domain: asDomainName(domain), ...(ownUserId !== undefined && { ownUserId }) };
}

/** The answer to an operation that several nodes did: lists one after the other; of objects the first, with all dialogs. */
function merged(answers: readonly Value[]): Value {
  if (answers.every((answer) => Array.isArray(answer))) return answers.flat() as Value;
  const ended = answers.filter((answer) => typeof answer === 'object' && answer !== null && !Array.isArray(answer));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of JSON, what is left is a record
  const records = ended as readonly Readonly<Record<string, Value>>[];
  const dialogids = records.flatMap(({ dialogid = [], dialogids: several = dialogid }) => several);
  return { ...records[0], dialogids };
}
