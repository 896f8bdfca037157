/** Builds responses, the ACK of failures, and CANCEL. */
import { reasonPhrase } from '../../sip-facts/index.ts';
import { SipRequest, SipResponse } from './message.ts';
import { tagOf } from './name-addr.ts';
import { MAGIC_COOKIE } from './via.ts';

/** Methods that can begin a dialog: their 1xx (except 100) and 2xx copy Record-Route (section 12.1.1). */
const DIALOG_METHODS = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'NOTIFY', 'UPDATE']);

/**
 * Builds a response with the headers that section 8.2.6.2 copies from the request: every Via, From, To, Call-ID, CSeq,
 * and Record-Route where a dialog can begin. `toTag` is added to a To without a tag, except in a 100.
 */
export function responseTo(
  request: SipRequest,
  status: number,
  reason = reasonPhrase(status),
  toTag?: string,
): SipResponse {
  const response = new SipResponse(status, reason);
  const { headers } = response;
  const recordRoute = status > 100 && status < 300 && DIALOG_METHODS.has(request.method);
  for (const field of request.headers) if (field.key === 'via') headers.push({ ...field, name: 'Via', raw: undefined });
  if (recordRoute) {
    for (const field of request.headers) {
      if (field.key === 'record-route') headers.push({ ...field, name: 'Record-Route', raw: undefined });
    }
  }
  const from = request.header('from');
  if (from !== undefined) response.add('From', from);
  const to = request.header('to');
  if (to !== undefined) {
    const tagged = toTag === undefined || status === 100 || tagOf(to) !== undefined ? to : `${to};tag=${toTag}`;
    response.add('To', tagged);
  }
  const callId = request.header('call-id');
  if (callId !== undefined) response.add('Call-ID', callId);
  const cseq = request.header('cseq');
  if (cseq !== undefined) response.add('CSeq', cseq);
  return response;
}

/** Builds the ACK that a transaction sends for a final response other than 2xx (RFC 3261 section 17.1.1.3). */
export function ackForFailure(invite: SipRequest, response: SipResponse): SipRequest {
  const ack = hopByHop(invite, 'ACK');
  ack.set('To', response.header('to') ?? invite.header('to') ?? '');
  return ack;
}

/** Builds the CANCEL of a request (section 9.1). */
export function cancelFor(request: SipRequest): SipRequest {
  return hopByHop(request, 'CANCEL');
}

function hopByHop(request: SipRequest, method: string): SipRequest {
  const built = new SipRequest(method, request.uri);
  const via = request.headers.find((field) => field.key === 'via');
  built.add('Via', via === undefined ? '' : via.value);
  for (const route of request.values('route')) built.add('Route', route);
  built.add('Max-Forwards', '70');
  built.add('From', request.header('from') ?? '');
  built.add('To', request.header('to') ?? '');
  built.add('Call-ID', request.callId);
  built.add('CSeq', `${request.cseq.number} ${method}`);
  return built;
}

/**
 * The key of a request's server transaction (section 17.2.3): branch, sent-by and method. For an RFC 2543 client, whose
 * branch lacks the magic cookie, Call-ID, CSeq and From tag are added.
 */
export function serverKey(request: SipRequest, method = request.method): string {
  const via = request.topVia;
  const branch = via.params.get('branch') ?? '';
  const counterpart = method === 'ACK' ? 'INVITE' : method;
  if (branch.startsWith(MAGIC_COOKIE) && branch.length > MAGIC_COOKIE.length) {
    return `${branch}|${via.host}:${via.port ?? ''}|${counterpart}`;
  }
  return `${request.callId}|${request.cseq.number}|${request.fromTag ?? ''}|${via.host}:${via.port ?? ''}|${branch}|${counterpart}`;
}
