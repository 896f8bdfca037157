import { SipRequest, SipResponse } from './message.ts';
import { tagOf } from './name-addr.ts';
import { MAGIC_COOKIE } from './via.ts';

const REASONS: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  181: 'Call Is Being Forwarded',
  182: 'Queued',
  183: 'Session Progress',
  199: 'Early Dialog Terminated',
  200: 'OK',
  202: 'Accepted',
  204: 'No Notification',
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Moved Temporarily',
  305: 'Use Proxy',
  380: 'Alternative Service',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  410: 'Gone',
  412: 'Conditional Request Failed',
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  420: 'Bad Extension',
  421: 'Extension Required',
  422: 'Session Interval Too Small',
  423: 'Interval Too Brief',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  483: 'Too Many Hops',
  484: 'Address Incomplete',
  485: 'Ambiguous',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  489: 'Bad Event',
  491: 'Request Pending',
  493: 'Undecipherable',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  505: 'Version Not Supported',
  513: 'Message Too Large',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
  606: 'Not Acceptable',
};

/** Default reason phrase of a status (RFC 3261 section 21 and extensions). */
export function reasonPhrase(status: number): string {
  return REASONS[status] ?? 'Unknown';
}

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
