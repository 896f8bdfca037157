/** Builds outgoing requests. */
import {
  formatNameAddr,
  formatUri,
  initialCSeq,
  newCallId,
  parseNameAddr,
  parseUri,
  SipParseError,
  SipRequest,
  token,
} from '../stack/index.ts';
import type { Dialog, NextHop } from './dialog.ts';
import { contactValue, copyHeaders, finish, type OwnAddress, ownUri, withOwnHost } from './message-building.ts';

/** Methods whose requests get a Contact when the application gives none. As observed at drachtio-server, not UPDATE. */
const WITH_CONTACT = new Set(['INVITE', 'SUBSCRIBE', 'REFER']);

/**
 * Builds a request outside of dialogs from the application's. Fills in missing From, From tag, To, Call-ID, CSeq,
 * Max-Forwards, Contact, and the Content-Type of an SDP.
 * @throws SipParseError when a given header cannot be read.
 */
export function newRequest(given: SipRequest, own: OwnAddress): SipRequest {
  const request = new SipRequest(given.method, given.uri);
  request.add('Max-Forwards', given.header('max-forwards') ?? '70');
  request.add('From', fromValue(given.header('from'), own));
  const to = given.header('to');
  request.add('To', to === undefined ? `<${withoutTransport(given.uri)}>` : formatNameAddr(parseNameAddr(to, 'To')));
  request.add('Call-ID', given.header('call-id') ?? newCallId());
  const cseq = given.has('cseq') ? given.cseq.number : initialCSeq();
  request.add('CSeq', `${cseq} ${given.method}`);
  const contact = given.header('contact');
  if (contact !== undefined || WITH_CONTACT.has(given.method)) request.add('Contact', contactValue(contact, own));
  copyHeaders(given, request, ['max-forwards', 'contact']);
  finish(request, given.body);
  return request;
}

/** Builds a request in a dialog (RFC 3261 section 12.2.1.1). From, To, Call-ID, CSeq and Route come from the dialog. */
export function dialogRequest(dialog: Dialog, hop: NextHop, given: SipRequest, own: OwnAddress): SipRequest {
  const request = skeleton(dialog, hop, given.method, 0);
  dialog.localSeq += 1;
  request.set('CSeq', `${dialog.localSeq} ${given.method}`);
  const contact = given.header('contact');
  if (contact !== undefined || WITH_CONTACT.has(given.method)) request.add('Contact', contactValue(contact, own));
  copyHeaders(given, request, ['max-forwards', 'contact', 'route']);
  finish(request, given.body);
  return request;
}

/** Builds the ACK of a 2xx (section 13.2.2.4). As observed at drachtio-server, it does not repeat the credentials. */
export function ackRequest(dialog: Dialog, hop: NextHop, given: SipRequest, invite: SipRequest): SipRequest {
  const ack = skeleton(dialog, hop, 'ACK', invite.cseq.number);
  copyHeaders(given, ack, ['max-forwards', 'contact', 'route']);
  finish(ack, given.body);
  return ack;
}

function skeleton(dialog: Dialog, hop: NextHop, method: string, cseq: number): SipRequest {
  const request = new SipRequest(method, hop.requestUri);
  for (const route of hop.route) request.add('Route', route);
  request.add('Max-Forwards', '70');
  request.add('From', dialog.localParty);
  request.add('To', dialog.remoteParty);
  request.add('Call-ID', dialog.callId);
  request.add('CSeq', `${cseq} ${method}`);
  return request;
}

function fromValue(given: string | undefined, own: OwnAddress): string {
  if (given === undefined) return `<${ownUri(own)}>;tag=${token()}`;
  const address = withOwnHost(given, own, 'From');
  const params = new Map(address.params);
  if (!params.get('tag')) params.set('tag', token());
  return formatNameAddr({ ...address, params });
}

/** Removes the transport parameter, which is not allowed in To (RFC 3261 section 19.1.1, table 1). */
function withoutTransport(text: string): string {
  const uri = parseUri(text);
  if (uri.opaque !== undefined || !uri.params.has('transport')) return text;
  const params = new Map(uri.params);
  params.delete('transport');
  return formatUri({ ...uri, params, headers: undefined });
}

/**
 * The next hop that an application gives in Route.
 * @throws SipParseError when Route holds no URI.
 */
export function firstRoute(given: SipRequest): string | undefined {
  const route = given.values('route')[0];
  if (route === undefined) return undefined;
  const { uri } = parseNameAddr(route, 'Route');
  if (!uri.includes(':')) throw new SipParseError('Route', route, 'a URI');
  return uri;
}
