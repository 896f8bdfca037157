/**
 * A SIP stack: messages, transports (UDP, TCP, TLS, WebSockets) and transactions after RFC 3261, 3581, 6026 and 7118, shared by the embedded
 * SIP server and the embedded media server. Dialogs are left to these servers.
 *
 * Example: a user agent server that answers every call, and a call to it:
 *
 * ```ts
 * const server = new SipEndpoint({
 *   handler: {
 *     request: (transaction) => {
 *       const { method } = transaction.request;
 *       if (method === 'INVITE') {
 *         const contact = `<sip:${formatHostPort(point.host, point.port)}>`;
 *         transaction.onAck = (ack) => started(ack);
 *         transaction.reply(200, { headers: { Contact: contact, 'Content-Type': 'application/sdp' }, body: sdp });
 *       } else transaction.reply(method === 'BYE' ? 200 : 405);
 *     },
 *     cancelled: (invite) => stopped(invite),      // 200 and 487 are sent already
 *     ackMissing: (invite) => sendBye(invite),     // no ACK within 32 s
 *   },
 * });
 * const point = await server.listen({ host: '127.0.0.1', port: 0 });
 *
 * const invite = new SipRequest('INVITE', 'sip:bob@127.0.0.1:5060');
 * invite.add('Max-Forwards', '70').add('From', `<sip:a@x>;tag=${token()}`).add('To', '<sip:bob@127.0.0.1:5060>');
 * invite.add('Call-ID', newCallId()).add('CSeq', '1 INVITE').add('Contact', '<sip:a@127.0.0.1:5090>');
 * const call = client.request(invite, destinationOf(invite.uri), {
 *   response: (response) => { if (response.status === 200) client.sendAck(call, ackFor(response),
 *   destinationOf(target)); }, failed: (error) => { ... }, // error.reason: timeout, refused ... }); call.cancel(); //
 *   before the final response
 * ```
 *
 * The endpoint itself sends 100 for every INVITE, retransmissions over UDP in both directions, the 2xx to an INVITE
 * until its ACK, the ACK of failures, 200 and 487 for CANCEL, and 400 for malformed requests. It completes Via with
 * `rport` and `received`, uses a peer's open connection for requests and responses, and answers CRLF keep-alives.
 */
export { ClientTransaction, type ClientUser } from './client-transaction.ts';
export { DEFAULT_TCP_LIMITS, type TcpLimits } from './connection.ts';
export {
  type Sent,
  SipEndpoint,
  type SipEndpointHandler,
  type SipEndpointOptions,
  type SipEndpointStats,
} from './endpoint.ts';
export { SipParseError, SipTransportError, type SipFailureReason } from './errors.ts';
export { canonicalName, headerKey, headerRank } from './header-names.ts';
export { bytes, type CSeq, type HeaderField, SipMessage, SipRequest, SipResponse, utf8 } from './message.ts';
export { formatNameAddr, type NameAddr, parseNameAddr, tagOf } from './name-addr.ts';
export { isWildcard, numericLookup } from '../../sip-facts/index.ts';
export { isLoopback, OwnAddresses } from './local-address.ts';
export { DEFAULT_LIMITS, findHeadEnd, isToken, type ParseLimits, parseHead, parseMessage } from './parse-message.ts';
export { destinationOf, isNumeric, resolveDestination } from './resolve.ts';
export { responseTo } from './responses.ts';
export { decimal, formatParams, parseParams, splitOutside } from './scan.ts';
export { type ReplyOptions, ServerTransaction } from './server-transaction.ts';
export type { Trust } from './secure-client.ts';
export type { Certificate } from './secure-server.ts';
export { StreamFramer } from './stream-framer.ts';
export { DEFAULT_TIMER_VALUES, type Timer, type Timers, type TimerValues, TimerWheel } from './timers.ts';
export { initialCSeq, newBranch, newCallId, token } from './tokens.ts';
export {
  defaultPort,
  type Destination,
  formatDestination,
  isSecure,
  isTransport,
  isWebSocket,
  type ListeningPoint,
  type Source,
  type TransportName,
} from './transport.ts';
export type { ListenAddress } from './transport-layer.ts';
export { formatHost, formatHostPort, formatUri, parseHostPort, parseUri, type SipUri } from './uri.ts';
export { formatVia, MAGIC_COOKIE, parseVia, type Via } from './via.ts';
export { FORWARDED_HEADER, type WebSocketRules } from './websocket-rules.ts';
