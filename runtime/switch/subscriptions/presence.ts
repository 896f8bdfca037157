/** The event package `presence` (RFC 3856), and what phones publish for it (RFC 3903). */
import { type Directory, isNamed, type LocationStore, type SipUser, sipUserNamed } from '../../domain/index.ts';
import { headerOf, parseSipUri, readExpires, type SrfRequest, type SrfResponse } from '../../signalling/index.ts';
import type { Authentication } from '../registrations/authentication.ts';
import type { SwitchTools } from '../tools.ts';
import type { EventPackage } from './event-package.ts';
import { MAX_EXPIRES, MIN_EXPIRES } from './expires.ts';
import { PIDF, pidf, type PresenceState, readPidf } from './pidf.ts';
import { Publications } from './publications.ts';
import { sipUserPackage } from './sipuser-package.ts';

const EVENT = 'presence';
/** Octets of a published document. */
const MAX_BODY = 4096;

export interface PresenceOptions {
  readonly tools: Pick<SwitchTools, 'directory' | 'isHere'>;
  readonly location: Pick<LocationStore, 'contacts'>;
  readonly authentication: Authentication;
  /** True for a sipuser who talks. */
  readonly isOnThePhone: (sipUserId: string) => boolean;
  readonly changed: (event: string, key: string) => void;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #publications: Publications<PresenceState>;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#publications = new Publications((id) => options.changed(EVENT, id));
  }

  get publications(): number {
    return this.#publications.count;
  }

  /** Every sipuser may watch those of its domain. */
  package(directory: Directory): EventPackage {
    return sipUserPackage(directory, { name: EVENT, type: PIDF }, (watched, uri) => {
      const text = pidf(uri, watched === undefined ? [] : this.#statesOf(watched));
      return () => text;
    });
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
    const done = this.#publications.publish(sipUser.id, req.get('SIP-If-Match')?.trim(), state, expires);
    if (done === 'unknown') refuse(412);
    else if (done === 'empty') res.send(400, 'There is no state');
    else if (done === 'full') res.send(403, 'Too Many Publications');
    else refuse(200, { 'SIP-ETag': done.tag, Expires: String(expires) });
  }

  close(): void {
    this.#publications.close();
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
    const published = this.#publications.of(id);
    const open = this.#options.location.contacts(id).length > 0;
    const states = published.length > 0 ? published : [{ open, note: '', activities: [] }];
    if (!this.#options.isOnThePhone(id)) return states;
    return states.map((state) => ({ ...state, activities: [...new Set([...state.activities, 'on-the-phone'])] }));
  }
}

/** The published state; undefined without a body; or the status of its refusal. */
function stateOf(req: SrfRequest): PresenceState | undefined | 400 | 413 | 415 {
  if (req.body === '') return undefined;
  if (Buffer.byteLength(req.body) > MAX_BODY) return 413;
  if ((req.get('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase() !== PIDF) return 415;
  return readPidf(req.body) ?? 400;
}
