/** The event package `presence` (RFC 3856), and what phones publish for it (RFC 3903). */
import { type Directory, isNamed, type LocationStore, type SipUser, sipUserNamed } from '../../domain/index.ts';
import { headerOf, parseSipUri, readExpires, type SrfRequest, type SrfResponse } from '../../signalling/index.ts';
import type { Authentication } from '../registrations/authentication.ts';
import type { NodeLink } from '../lines/node-link.ts';
import type { SwitchTools } from '../tools.ts';
import type { Elsewhere, EventPackage } from './event-package.ts';
import { MAX_EXPIRES, MIN_EXPIRES } from './expires.ts';
import { PIDF, pidf, type PresenceState, readPidf } from './pidf.ts';
import { Publications, type Published } from './publications.ts';
import { sipUserPackage } from './sipuser-package.ts';

const EVENT = 'presence';
/** Asks the node of a publication to change it. */
const PUBLISH = 'presence.publish';
const ANSWER_MS = 2000;
/** Octets of a published document. */
const MAX_BODY = 4096;

export interface PresenceOptions {
  readonly tools: Pick<SwitchTools, 'directory' | 'isHere'>;
  readonly location: Pick<LocationStore, 'contacts'>;
  readonly authentication: Authentication;
  /** True for a sipuser who talks. */
  readonly isOnThePhone: (sipUserId: string) => boolean;
  readonly changed: (event: string, key: string) => void;
  readonly elsewhere: Elsewhere<OwnPresence>;
  /** The other nodes of the cluster; absent on a single node. */
  readonly nodes?: NodeLink | undefined;
}

/** What a node knows of a sipuser, besides its registrations. */
interface OwnPresence {
  readonly published: readonly PresenceState[];
  readonly talks: boolean;
}

interface Change {
  readonly owner: string;
  /** Of the former publication, if any. */
  readonly tag?: string | undefined;
  /** Absent: the former one. */
  readonly state?: PresenceState | undefined;
  readonly seconds: number;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #publications: Publications<PresenceState>;

  constructor(options: PresenceOptions) {
    this.#options = options;
    const { nodes } = options;
    // A tag names its node: the SIP server brings the next PUBLISH to any.
    const prefix = nodes === undefined ? '' : `${nodes.self}.`;
    this.#publications = new Publications((id) => options.changed(EVENT, id), prefix);
    nodes?.serve(PUBLISH, (asked) => {
      const { owner, tag, state, seconds } = asked as Change;
      return this.#publications.publish(owner, tag, state, seconds);
    });
  }

  get publications(): number {
    return this.#publications.count;
  }

  /** Every sipuser may watch those of its domain. */
  package(directory: Directory): EventPackage {
    const made = sipUserPackage(directory, { name: EVENT, type: PIDF }, (watched, uri) => {
      const text = pidf(uri, watched === undefined ? [] : this.#statesOf(watched));
      return () => text;
    });
    return { ...made, own: (id) => this.#own(id) };
  }

  /** Takes a PUBLISH. */
  publish(req: SrfRequest, res: SrfResponse): void {
    const refuse = (status: number, headers: Record<string, string> = {}): void => res.send(status, { headers });
    const account = this.#options.authentication.caller(req, refuse);
    if (account === undefined) return;
    if (account.kind === 'provider') return refuse(403);
    const { sipUser } = account;
    const event = (headerOf(req, 'Event') ?? '').split(';')[0]?.trim().toLowerCase();
    if (event !== EVENT) return refuse(489, { 'Allow-Events': EVENT });
    const refusal = this.#ofOthers(req, sipUser);
    if (refusal !== undefined) return refuse(refusal);
    const given = readExpires(req.get('Expires'));
    if (given === 'bad') return void res.send(400, 'Expires cannot be read');
    const expires = Math.min(given ?? MAX_EXPIRES, MAX_EXPIRES);
    if (expires > 0 && expires < MIN_EXPIRES) return refuse(423, { 'Min-Expires': String(MIN_EXPIRES) });
    const state = stateOf(req);
    if (typeof state === 'number') return refuse(state, state === 415 ? { Accept: PIDF } : {});
    const change = { owner: sipUser.id, tag: req.get('SIP-If-Match')?.trim(), state, seconds: expires };
    void this.#publish(change).then((done) => {
      if (done === 'away') refuse(503, { 'Retry-After': '5' });
      else if (done === 'unknown') refuse(412);
      else if (done === 'empty') res.send(400, 'There is no state');
      else if (done === 'full') res.send(403, 'Too Many Publications');
      else refuse(200, { 'SIP-ETag': done.tag, Expires: String(expires) });
    });
  }

  close(): void {
    this.#publications.close();
  }

  /** Publishes at this node, or changes a publication of another one. */
  async #publish(change: Change): Promise<Published | 'away'> {
    const { owner, tag, state, seconds } = change;
    const { nodes } = this.#options;
    const home = tag?.split('.')[0];
    if (nodes === undefined || home === undefined || home === nodes.self)
      return this.#publications.publish(owner, tag, state, seconds);
    // The publications of a dead node are over, and the phone publishes anew.
    if (nodes.gone(home).aborted) return 'unknown';
    try {
      return (await nodes.ask(home, PUBLISH, change, ANSWER_MS)) as Published;
    } catch {
      return nodes.gone(home).aborted ? 'unknown' : 'away';
    }
  }

  /** A phone publishes for its own sipuser only. @returns the status of the refusal */
  #ofOthers(req: SrfRequest, sipUser: SipUser): 403 | 404 | undefined {
    const uri = parseSipUri(req.uri);
    const { isHere, directory } = this.#options.tools;
    if (uri === undefined || !isHere(uri.host, sipUser.domain)) return 403;
    if (uri.user === '' || isNamed(sipUser, uri.user)) return undefined;
    return sipUserNamed(directory, sipUser.domain, uri.user) === undefined ? 404 : 403;
  }

  /** What its phones publish; else whether one is registered. A call shows in any case. */
  #statesOf({ id }: SipUser): readonly PresenceState[] {
    const all = [this.#own(id) ?? [], ...this.#options.elsewhere(id)].flat();
    const published = all.flatMap((each) => each.published);
    const open = this.#options.location.contacts(id).length > 0;
    const states = published.length > 0 ? published : [{ open, note: '', activities: [] }];
    if (!all.some(({ talks }) => talks)) return states;
    return states.map((state) => ({ ...state, activities: [...new Set([...state.activities, 'on-the-phone'])] }));
  }

  #own(id: string): OwnPresence | undefined {
    const published = this.#publications.of(id);
    const talks = this.#options.isOnThePhone(id);
    return published.length > 0 || talks ? { published, talks } : undefined;
  }
}

/** The published state; undefined without a body; or the status of its refusal. */
function stateOf(req: SrfRequest): PresenceState | undefined | 400 | 413 | 415 {
  if (req.body === '') return undefined;
  if (Buffer.byteLength(req.body) > MAX_BODY) return 413;
  if ((req.get('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase() !== PIDF) return 415;
  return readPidf(req.body) ?? 400;
}
