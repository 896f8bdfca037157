import { authorization, parseChallenge } from './sip/digest.ts';
import type { SipEndpoint } from './sip/endpoint.ts';
import { headerLines, type SipHeader, type SipRequest, type SipResponse, token } from './sip/message.ts';
import type { Peer } from './sip/transport.ts';

/** A text outside any call (RFC 3428). */
export interface TextToSend {
  readonly target: string;
  readonly text: string;
  /** Header To, unless it is the target. */
  readonly to?: string | undefined;
  /** Address of record. */
  readonly from: string;
  readonly username: string;
  readonly password: string;
  /** Default `text/plain`. */
  readonly contentType?: string | undefined;
  readonly headers?: readonly SipHeader[] | undefined;
}

/** Sends a MESSAGE, repeated with credentials when challenged; rejects without an answer. */
export async function sendMessage(endpoint: SipEndpoint, peer: Peer, message: TextToSend): Promise<SipResponse> {
  const { target, text, from, username, password, contentType = 'text/plain', headers = [] } = message;
  const callId = `${token()}@127.0.0.1`;
  const tag = token();
  const send = async (cseq: number, credentials: readonly SipHeader[]): Promise<SipResponse> => {
    const request: SipRequest = {
      kind: 'request',
      method: 'MESSAGE',
      uri: target,
      headers: [
        { name: 'From', value: `<${from}>;tag=${tag}` },
        { name: 'To', value: message.to ?? `<${target}>` },
        { name: 'Call-ID', value: callId },
        { name: 'CSeq', value: `${cseq} MESSAGE` },
        { name: 'Content-Type', value: contentType },
        ...credentials,
        ...headers,
      ],
      body: text,
    };
    const response = await endpoint.send(request, peer).final;
    if (response === undefined) throw new Error(`${username}: no answer to MESSAGE`);
    return response;
  };
  const first = await send(1, []);
  if (first.status !== 401 && first.status !== 407) return first;
  const proxy = first.status === 407;
  const [challenge] = headerLines(first, proxy ? 'proxy-authenticate' : 'www-authenticate').map(parseChallenge);
  if (challenge === undefined) throw new Error(`${username}: a challenge that cannot be read`);
  const value = authorization({ challenge, username, password, method: 'MESSAGE', uri: target, nonceCount: 1 });
  return send(2, [{ name: proxy ? 'Proxy-Authorization' : 'Authorization', value }]);
}
