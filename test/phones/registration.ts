import { parseNameAddr } from './sip/address.ts';
import { authorization, parseChallenge, type Challenge, type DigestAlgorithm } from './sip/digest.ts';
import type { SipEndpoint } from './sip/endpoint.ts';
import {
  header,
  headerLines,
  headerList,
  type SipHeader,
  token,
  type SipRequest,
  type SipResponse,
} from './sip/message.ts';
import type { Peer } from './sip/transport.ts';

export interface RegisteredContact {
  readonly uri: string;
  /** Seconds. */
  readonly expires: number | undefined;
}

export interface RegisterResult {
  readonly status: number;
  readonly reason: string;
  /** Every contact of the account at the registrar. */
  readonly contacts: readonly RegisteredContact[];
  /** Challenges of the first, unauthorised answer. */
  readonly challenges: readonly Challenge[];
  readonly response: SipResponse;
}

export interface RegisterOptions {
  /** Seconds; 0 removes the contact. */
  readonly expires: number;
  readonly username: string;
  readonly password: string;
  /** The challenge to answer when there are several; default: the first supported one (RFC 8760 section 2.4). */
  readonly algorithm?: DigestAlgorithm;
  /** `*` removes every contact of the account (RFC 3261 section 10.2.2). */
  readonly contact: string;
  /** Parameters of the contact, e.g. `;reg-id=1`. */
  readonly contactParams?: string;
  /** What an edge proxy would add. */
  readonly headers?: readonly SipHeader[];
}

/** The registrations of one phone: one Call-ID, growing CSeq (RFC 3261 section 10.2). */
export class Registration {
  readonly #endpoint: SipEndpoint;
  readonly #registrar: Peer;
  readonly #address: string;
  readonly #uri: string;
  readonly #callId = `${token()}@127.0.0.1`;
  #cseq = 0;

  /** @param address address of record, `sip:login@domain` */
  constructor(endpoint: SipEndpoint, registrar: Peer, address: string, domain: string) {
    this.#endpoint = endpoint;
    this.#registrar = registrar;
    this.#address = address;
    this.#uri = `sip:${domain}`;
  }

  /** REGISTER, repeated with credentials when challenged. A refusal does not reject: see the status. */
  async register(options: RegisterOptions): Promise<RegisterResult> {
    const first = await this.#send(options, undefined);
    const header401 = first.status === 407 ? 'proxy-authenticate' : 'www-authenticate';
    const challenges = headerLines(first, header401)
      .map(parseChallenge)
      .filter((challenge) => challenge !== undefined);
    if (first.status !== 401 && first.status !== 407) return this.#result(first, challenges, options);
    const wanted = options.algorithm;
    const challenge = challenges.find((entry) => wanted === undefined || entry.algorithm === wanted);
    if (challenge === undefined)
      throw new Error(`the registrar offers no challenge with ${wanted ?? 'MD5 or SHA-256'}`);
    const { username, password } = options;
    const value = authorization({ challenge, username, password, method: 'REGISTER', uri: this.#uri, nonceCount: 1 });
    const name = first.status === 407 ? 'Proxy-Authorization' : 'Authorization';
    return this.#result(await this.#send(options, { name, value }), challenges, options);
  }

  async #send(
    options: RegisterOptions,
    credentials: { name: string; value: string } | undefined,
  ): Promise<SipResponse> {
    this.#cseq += 1;
    const request: SipRequest = {
      kind: 'request',
      method: 'REGISTER',
      uri: this.#uri,
      headers: [
        { name: 'From', value: `<${this.#address}>;tag=${token()}` },
        { name: 'To', value: `<${this.#address}>` },
        { name: 'Call-ID', value: this.#callId },
        { name: 'CSeq', value: `${this.#cseq} REGISTER` },
        {
          name: 'Contact',
          value: options.contact === '*' ? '*' : `<${options.contact}>${options.contactParams ?? ''}`,
        },
        { name: 'Expires', value: String(options.expires) },
        { name: 'Allow-Events', value: 'talk, hold, conference, refer, check-sync' },
        ...(options.headers ?? []),
        ...(credentials === undefined ? [] : [credentials]),
      ],
      body: '',
    };
    const response = await this.#endpoint.send(request, this.#registrar).final;
    if (response === undefined) throw new Error(`${this.#address}: the registrar does not answer`);
    return response;
  }

  #result(response: SipResponse, challenges: readonly Challenge[], options: RegisterOptions): RegisterResult {
    const contacts = headerList(response, 'contact').map((value) => {
      const { uri, params } = parseNameAddr(value);
      const expires = params.get('expires') ?? header(response, 'expires');
      return { uri, expires: expires === undefined ? undefined : Number(expires) };
    });
    if (response.status === 200) this.#check(contacts, options);
    return { status: response.status, reason: response.reason, contacts, challenges, response };
  }

  /** A 200 lists every current binding with its expiry (RFC 3261 section 10.3, step 8). */
  #check(contacts: readonly RegisteredContact[], options: RegisterOptions): void {
    const own = contacts.find((entry) => entry.uri === options.contact);
    if (options.expires > 0 && own === undefined) {
      this.#endpoint.violation(`the 200 to REGISTER does not list ${options.contact}`);
    }
    if (options.expires === 0 && own !== undefined) {
      this.#endpoint.violation(`the 200 to REGISTER still lists ${options.contact}`);
    }
    for (const entry of contacts) {
      if (entry.expires === undefined) this.#endpoint.violation(`contact ${entry.uri} has no expires`);
    }
  }
}
