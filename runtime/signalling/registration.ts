/** Outgoing registrations. */
import { randomUUID } from 'node:crypto';
import { answerOf, type SipAnswer } from './answers.ts';
import { listValues } from './list-values.ts';
import { parseSipUri, plainUri } from './sip-uri.ts';
import type { Srf, SrfIncomingResponse } from './srf-types.ts';

/** Credentials of this platform at other operators. */
export interface SipCredentials {
  readonly username: string;
  readonly password: string;
}

export interface RegistrationOptions {
  /** URI of the registrar, e.g. `sip:sip.example.net;transport=tcp`. */
  readonly registrar: string;
  /** Domain of the address of record. */
  readonly domain: string;
  /** User part of the address of record. */
  readonly user: string;
  readonly credentials: SipCredentials;
  /** User part of the Contact, which calls from the registrar have in their URI. */
  readonly contactUser: string;
  /** `sips`: TLS, and a `sips` Contact. */
  readonly transport: 'udp' | 'tcp' | 'tls' | 'sips';
  /** URN of this node at the registrar, for calls over the connection of the registration (RFC 5626); absent: without. */
  readonly instance?: string;
}

export type RegistrationOutcome =
  | {
      readonly registered: true;
      /** Seconds for which the registrar keeps it. */
      readonly expires: number;
      /** The proxies that requests go through, as values of Route (RFC 3608); absent: none. */
      readonly serviceRoute?: readonly string[];
      /** Where the registrar's answer came from. */
      readonly from: { readonly address: string; readonly port: number };
    }
  | { readonly registered: false; readonly answer: SipAnswer };

interface RegistrarAnswer {
  readonly res: SrfIncomingResponse;
  /** Seconds requested by the registrar, if any. */
  readonly granted: number | undefined;
}

/** A registration of this platform at a foreign registrar (RFC 3261 section 10.2). One request at a time. */
export class Registration {
  readonly #srf: () => Srf;
  readonly #options: RegistrationOptions;
  readonly #callId = randomUUID();
  /** An answered challenge uses a CSeq of its own, so each attempt counts two. */
  #cseq = 0;
  /** Seconds requested by the registrar. */
  #atLeast = 0;
  /** False once the registrar's first hop has refused it (RFC 5626 section 11.6). */
  #outbound: boolean;

  /** @param srf returns the application object for each request */
  constructor(srf: () => Srf, options: RegistrationOptions) {
    this.#srf = srf;
    this.#options = options;
    this.#outbound = options.instance !== undefined;
  }

  /**
   * Registers or renews.
   * @param expires requested seconds; 0 removes the registration
   */
  async register(expires: number): Promise<RegistrationOutcome> {
    const asked = expires === 0 ? 0 : Math.max(expires, this.#atLeast);
    const first = await this.#register(asked);
    const withoutOutbound = first.res.status === FIRST_HOP_LACKS_OUTBOUND && this.#outbound;
    if (withoutOutbound) this.#outbound = false;
    const { res, granted } = withoutOutbound ? await this.#register(asked) : first;
    const atLeast = res.status === 423 ? Number.parseInt(res.get('Min-Expires') ?? '', 10) : 0;
    if (atLeast > asked) {
      // The registrar requires longer intervals (RFC 3261 section 10.2.8).
      this.#atLeast = atLeast;
      return this.#outcome(await this.#register(atLeast), atLeast);
    }
    return this.#outcome({ res, granted }, asked);
  }

  async #register(expires: number): Promise<RegistrarAnswer> {
    const { registrar, domain, user, contactUser, transport, instance } = this.#options;
    const aor = `<${plainUri(user, domain)}>`;
    this.#cseq += 2;
    const res = await this.#send(registrar, {
      'Call-ID': this.#callId,
      CSeq: `${this.#cseq - 1} REGISTER`,
      From: aor,
      To: aor,
      // The SIP server replaces `localhost` by its own address.
      Contact: `<${contactUri(contactUser, transport)}>;expires=${expires}${this.#outbound ? `;reg-id=1;+sip.instance="<${instance}>"` : ''}`,
      Expires: String(expires),
      Supported: this.#outbound ? 'path, outbound' : 'path',
    });
    return { res, granted: grantedExpires(res, contactUser) };
  }

  #outcome({ res, granted }: RegistrarAnswer, asked: number): RegistrationOutcome {
    if (res.status < 200 || res.status >= 300)
      return { registered: false, answer: answerOf(res, this.#options.registrar) };
    const route = listValues(res.get('Service-Route') ?? '').map((value) => value.trim());
    const serviceRoute = route.filter((value) => value !== '');
    const from = { address: res.source_address, port: res.source_port };
    return { registered: true, expires: granted ?? asked, from, ...(serviceRoute.length > 0 && { serviceRoute }) };
  }

  #send(registrar: string, headers: Record<string, string>): Promise<SrfIncomingResponse> {
    const { credentials } = this.#options;
    return new Promise((resolve, reject) => {
      this.#srf().request(registrar, { method: 'REGISTER', headers, auth: { ...credentials } }, (err, req) => {
        if (req === undefined) reject(err);
        else req.on('response', (res: SrfIncomingResponse) => void (res.status >= 200 && resolve(res)));
      });
    });
  }
}

const FIRST_HOP_LACKS_OUTBOUND = 439;

function contactUri(user: string, transport: RegistrationOptions['transport']): string {
  if (transport === 'sips') return `sips:${user}@localhost`;
  return `sip:${user}@localhost${transport === 'udp' ? '' : `;transport=${transport}`}`;
}

/** Seconds granted to our Contact (RFC 3261 section 10.2.4): its own parameter precedes Expires. */
function grantedExpires(res: SrfIncomingResponse, contactUser: string): number | undefined {
  for (const part of listValues(res.get('Contact') ?? '')) {
    if (parseSipUri(part)?.user !== contactUser) continue;
    const own = /;\s*expires\s*=\s*"?(\d+)/i.exec(part.slice(part.indexOf('>') + 1))?.[1];
    if (own !== undefined) return Number(own);
  }
  const all = Number.parseInt(res.get('Expires') ?? '', 10);
  return Number.isNaN(all) ? undefined : all;
}
