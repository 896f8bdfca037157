import { reasonPhrase } from '../../sip-facts/index.ts';
import { SipRequest, SipResponse } from './message.ts';
import { tagOf } from './name-addr.ts';
import { MAGIC_COOKIE } from './via.ts';

/** Methods whose 1xx (but 100) and 2xx copy Record-Route, because they can begin a dialog (section 12.1.1). */
const DIALOG_METHODS = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'NOTIFY', 'UPDATE']);

/**
 * A response with what section 8.2.6.2 copies from the request: every Via, From, To (with `toTag` added unless it has a
 * tag or the response is 100), Call-ID, CSeq, and Record-Route where a dialog may begin.
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

/** The ACK for a final response other than 2xx, sent by the transaction (RFC 3261 section 17.1.1.3). */
export function ackForFailure(invite: SipRequest, response: SipResponse): SipRequest {
  const ack = hopByHop(invite, 'ACK');
  ack.set('To', response.header('to') ?? invite.header('to') ?? '');
  return ack;
}

/** The CANCEL of a request (section 9.1). */
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
 * Identifies the server transaction of a request (section 17.2.3): branch, sent-by and method. Without the magic
 * cookie, i.e. from an RFC 2543 client, Call-ID, CSeq, From tag and the whole Via stand in for the branch.
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
