/** Reason phrases of the final failures a route can name (RFC 3261 section 21 and the IANA registry). */
const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  410: 'Gone',
  433: 'Anonymity Disallowed',
  480: 'Temporarily Unavailable',
  484: 'Address Incomplete',
  485: 'Ambiguous',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
  606: 'Not Acceptable',
  607: 'Unwanted',
  608: 'Rejected',
};

/** A status without a phrase of its own is treated as the x00 of its class (RFC 3261 section 8.1.3.2). */
export function reasonPhrase(status: number): string {
  return phrases[status] ?? phrases[Math.floor(status / 100) * 100] ?? 'Rejected';
}
