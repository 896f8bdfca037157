/** Passes on text messages outside calls. */
import { randomUUID } from 'node:crypto';
import type { DomainName } from '../../domain-name/index.ts';
import { type SipUser, sipUserNamed } from '../../domain/index.ts';
import { MAX_TEXT_OCTETS, type TextMessage, type TextPort } from '../../runs/index.ts';
import {
  answer,
  bracketUri,
  nameAddr,
  parseSipUri,
  readTextBody,
  sendableStatus,
  type SipAnswer,
  sourceOf,
  type SrfRequest,
  type SrfResponse,
} from '../../signalling/index.ts';
import type { Authentication } from '../registrations/authentication.ts';
import { contactAddress } from '../addresses/callee.ts';
import { bestAnswer } from '../placing/fork.ts';
import { callerUser } from './incoming-call.ts';
import { isFromContact } from '../addresses/next-hop.ts';
import type { SwitchTools } from '../tools.ts';

/** A text that a phone sent, and its delivery. */
export type ReceivedText = {
  readonly domain: DomainName;
  /** Numbers and logins of both. */
  readonly from: string;
  readonly fromlogin: string;
  readonly to: string;
  readonly tologin: string;
  readonly text: string;
  /** SIP status that the sender got. */
  readonly status: number;
  readonly delivered: boolean;
};

/** A text on its way to the phones of a sipuser. */
interface Outgoing {
  /** Name-addr. */
  readonly from: string;
  /** How the receiver was named: number or login. */
  readonly called: string;
  readonly text: string;
  /** Source of the text, which does not go back there. */
  readonly source?: ReturnType<typeof sourceOf>;
}

type Tools = Pick<SwitchTools, 'directory' | 'isHere' | 'location' | 'log' | 'message' | 'sipServer'>;

/**
 * Texts outside calls (MESSAGE in page mode, RFC 3428), from a phone or a scenario to every registered contact of a
 * sipuser of the same domain.
 */
export class TextMessages implements TextPort {
  readonly #tools: Tools;
  readonly #authentication: Authentication;
  readonly #onText: (text: ReceivedText) => void;

  /** @param onText called for every text from a phone to a sipuser, when its delivery is known */
  constructor(tools: Tools, authentication: Authentication, onText: (text: ReceivedText) => void = () => undefined) {
    this.#tools = tools;
    this.#authentication = authentication;
    this.#onText = onText;
  }

  /** Takes a MESSAGE from a phone: passes it on, or refuses it. */
  take(req: SrfRequest, res: SrfResponse): void {
    // A tag in To means a dialog, and none matched.
    if (/;\s*tag=/i.test(req.get('To') ?? '')) return res.send(481);
    const refuse = (status: number, headers: Record<string, string> = {}): void => res.send(status, { headers });
    const account = this.#authentication.caller(req, refuse);
    if (account === undefined) return undefined;
    if (account.kind === 'provider') return refuse(403);
    const body = readTextBody(req, MAX_TEXT_OCTETS);
    if ('refusal' in body) return refuse(body.refusal.status, body.refusal.headers);
    const { sipUser } = account;
    const target = parseSipUri(req.uri);
    const called = target !== undefined && this.#tools.isHere(target.host, sipUser.domain) ? target.user : '';
    const receiver = sipUserNamed(this.#tools.directory, sipUser.domain, called);
    if (receiver === undefined) return refuse(404);
    this.#passOn(sipUser, receiver, { called, text: body.text }, req).then(
      (status) => res.send(sendableStatus(status)),
      (err: unknown) => {
        this.#tools.log.error({ err, callid: req.get('Call-ID') }, 'text not passed on');
        if (!res.finalResponseSent) res.send(500);
      },
    );
  }

  async send(domain: DomainName, { from, fromName, to, text }: TextMessage): Promise<SipAnswer> {
    const receiver = sipUserNamed(this.#tools.directory, domain, to);
    if (receiver === undefined) return answer(404, undefined, true);
    return this.#deliver(receiver, { from: nameAddr(fromName, from, domain), called: to, text });
  }

  async #passOn(
    sender: SipUser,
    receiver: SipUser,
    { called, text }: Pick<Outgoing, 'called' | 'text'>,
    req: SrfRequest,
  ): Promise<number> {
    const { domain, name, phonenumber: from, login: fromlogin } = sender;
    const own = nameAddr(name, callerUser(req.get('From'), sender), domain);
    const { status } = await this.#deliver(receiver, { from: own, called, text, source: sourceOf(req) });
    const told = statusForSender(status);
    const { phonenumber: to, login: tologin } = receiver;
    this.#onText({ domain, from, fromlogin, to, tologin, text, status: told, delivered: told < 300 });
    return told;
  }

  /** Settles with the first 2xx, else with the best of all answers. */
  #deliver({ id, domain }: SipUser, { from, called, text, source }: Outgoing): Promise<SipAnswer> {
    const { location, message, sipServer } = this.#tools;
    const bindings = location.contacts(id).filter((binding) => !(source && isFromContact(binding, source)));
    if (bindings.length === 0) return Promise.resolve(answer(480, undefined, true));
    const to = bracketUri(called, domain);
    const { promise, resolve } = Promise.withResolvers<SipAnswer>();
    const refusals: SipAnswer[] = [];
    for (const { uri, nextHop, route, via = sipServer() } of bindings.map(contactAddress)) {
      void message({ uri, nextHop, route, via, callId: randomUUID(), from, to, text }).then((each) => {
        if (each.status < 300) return resolve(each);
        refusals.push(each);
        if (refusals.length === bindings.length) resolve(bestAnswer(refusals));
      });
    }
    return promise;
  }
}

/**
 * The status for the sender. Redirections (3xx) and challenges of the receiver's phone are not passed on. A silent phone
 * counts as absent, because 408 is not sent for MESSAGE (RFC 4320 section 4.2); so does one whose transport the SIP server
 * does not offer (416).
 */
function statusForSender(status: number): number {
  return (status >= 300 && status < 400) || [401, 407, 408, 416, 503].includes(status) ? 480 : status;
}
