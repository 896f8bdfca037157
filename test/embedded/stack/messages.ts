import { parseMessage, type SipRequest, type SipResponse } from '../../../runtime/embedded/stack/index.ts';

/** Text with LF line ends, as a SIP message's bytes. */
export function wire(text: string): Buffer {
  return Buffer.from(text.replace(/^\n/, '').replace(/\n/g, '\r\n'), 'utf8');
}

export function request(text: string): SipRequest {
  const message = parseMessage(wire(text));
  if (message.kind !== 'request') throw new Error('expected a request');
  return message;
}

export function response(text: string): SipResponse {
  const message = parseMessage(wire(text));
  if (message.kind !== 'response') throw new Error('expected a response');
  return message;
}

export const INVITE = `
INVITE sip:bob@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:5070;rport;branch=z9hG4bKa1
Max-Forwards: 70
From: "Alice" <sip:alice@127.0.0.1>;tag=from1
To: <sip:bob@127.0.0.1>
Call-ID: call-1
CSeq: 7 INVITE
Contact: <sip:alice@127.0.0.1:5070>
Content-Length: 0

`;

/** The answer to {@link INVITE} with that status. */
export function answer(status: number): SipResponse {
  return response(`
SIP/2.0 ${status} Whatever
Via: SIP/2.0/UDP 127.0.0.1:5070;rport=5070;branch=z9hG4bKa1
From: "Alice" <sip:alice@127.0.0.1>;tag=from1
To: <sip:bob@127.0.0.1>;tag=to1
Call-ID: call-1
CSeq: 7 INVITE
Content-Length: 0

`);
}
