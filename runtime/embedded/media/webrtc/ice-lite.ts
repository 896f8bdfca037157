/** ICE of a server with a known address (RFC 8445 section 2.5): it answers the far end's checks and sends none. */
import { randomBytes } from 'node:crypto';
import { bindingSuccess, readBindingRequest } from './stun.ts';

/** What a packet came from, or goes to. */
export interface MediaAddress {
  readonly address: string;
  readonly port: number;
}

/** What is done about a check. */
export interface CheckAnswer {
  readonly answer: Buffer;
  /** Whether the far end has chosen this path. */
  readonly nominated: boolean;
}

/** The server's side of ICE in one call. */
export class IceLite {
  /** 48 and 144 random bits: more than RFC 8445 section 5.3 asks for. */
  readonly ufrag = randomBytes(6).toString('hex');
  readonly password = randomBytes(18).toString('hex');

  /** The answer to a check; undefined for anything but an authentic one, also when it checks the path on (RFC 7675). */
  check(datagram: Buffer, from: MediaAddress): CheckAnswer | undefined {
    const request = readBindingRequest(datagram);
    if (request === undefined || !request.username.startsWith(`${this.ufrag}:`)) return undefined;
    if (!request.isBy(this.password)) return undefined;
    return { answer: bindingSuccess(request, from, this.password), nominated: request.nominates };
  }
}
