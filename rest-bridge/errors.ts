/**
 * Every error a REST caller can get: HTTP status, `error_code` and text. Sources: specification "Errors", and the
 * decisions on what it leaves open. Clients switch on status and code: never change or reuse either.
 */

interface ErrorKind {
  readonly status: number;
  readonly code: number;
  /** `{name}` is replaced by the detail of that name. */
  readonly template: string;
  /** Response headers, unless the error has its own of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const ERRORS = {
  BAD_PARAMETER: { status: 400, code: 1400, template: 'Bad request parameter {field}: {reason}' },
  BAD_REQUEST: { status: 400, code: 1400, template: 'Bad request: {reason}' },
  AUTHENTICATION_REQUIRED: { status: 401, code: 1401, template: 'Authentication required' },
  WRONG_CREDENTIALS: { status: 401, code: 1401, template: 'Wrong domain, login or password' },
  FORBIDDEN: { status: 403, code: 1401, template: 'Access forbidden' },
  CROSS_SITE: { status: 403, code: 1401, template: 'The session cookie is not taken from here: {reason}' },
  ENDPOINT_NOT_FOUND: { status: 404, code: 1401, template: 'Endpoint not found' },
  ENTITY_NOT_FOUND: { status: 404, code: 1404, template: '{entity} not found' },
  DIALOG_NOT_FOUND: { status: 404, code: 1413, template: 'Dialog not found' },
  METHOD_NOT_ALLOWED: { status: 405, code: 1406, template: 'Method {method} is not allowed here' },
  REQUEST_TIMEOUT: { status: 408, code: 1408, template: 'Request timeout: {reason}' },
  CONFLICT: { status: 409, code: 1402, template: 'Conflict: {reason}' },
  PRECONDITION_FAILED: { status: 412, code: 1412, template: 'Precondition failed: {field}: {reason}' },
  BODY_TOO_LARGE: { status: 413, code: 1506, template: 'The request body exceeds the maximum size of {limit}' },
  ANSWER_TOO_LARGE: {
    status: 413,
    code: 1506,
    template: 'The answers that wait exceed the maximum size of {limit}; ask for large ones over HTTP',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, code: 1415, template: 'Unsupported Content-Type; use {allowed}' },
  RANGE_NOT_SATISFIABLE: { status: 416, code: 1416, template: 'Nothing of the {size} bytes is in the range' },
  EXPECTATION_FAILED: { status: 417, code: 1417, template: 'Expectation failed: {reason}' },
  CANNOT_APPLY: { status: 422, code: 1405, template: 'Cannot be applied: {field}: {reason}' },
  TOO_MANY_LOGINS: { status: 429, code: 1429, template: 'Too many failed logins; try again in {seconds} s' },
  TOO_MANY_REQUESTS: { status: 429, code: 1429, template: 'Too many requests; try again in {seconds} s' },
  HEAD_TOO_LARGE: { status: 431, code: 1431, template: 'Request head too large: {reason}' },
  INTERNAL: { status: 500, code: 1409, template: 'Internal server error' },
  UNAVAILABLE: {
    status: 503,
    code: 1503,
    template: 'Service unavailable: {reason}',
    // RFC 9110 section 10.2.3, seconds; lost connections are retried every two.
    headers: { 'retry-after': '2' },
  },
  VERSION_NOT_SUPPORTED: { status: 505, code: 1505, template: 'HTTP version not supported: {reason}' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorId = keyof typeof ERRORS;
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The specification's error object. */
export interface ErrorObject {
  readonly error_code: number;
  readonly error_message: string;
  readonly error_details?: ErrorDetails;
}

/** An error that is answered to the REST caller as it is. */
export class RestError extends Error {
  override readonly name = 'RestError';
  readonly id: ErrorId;
  readonly details: ErrorDetails | undefined;
  /** Response headers that belong to it, e.g. `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    id: ErrorId,
    details?: ErrorDetails,
    headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(fill(ERRORS[id].template, details), options);
    this.id = id;
    this.details = details;
    const kind: ErrorKind = ERRORS[id];
    this.headers = { ...kind.headers, ...headers };
  }

  get status(): number {
    return ERRORS[this.id].status;
  }

  toObject(): ErrorObject {
    return {
      error_code: ERRORS[this.id].code,
      error_message: this.message,
      ...(this.details && { error_details: this.details }),
    };
  }
}

/** 400/1400 with `error_details: {field, reason}`. */
export function badParameter(field: string, reason: string): RestError {
  return new RestError('BAD_PARAMETER', { field, reason });
}

/** 403/1401: a field names a domain outside the session's administration, existing or not. */
export function outOfReach(field: string): RestError {
  return new RestError('FORBIDDEN', { field, reason: 'names no domain that this session administers' });
}

/** 429/1429 with Retry-After (RFC 9110 section 10.2.3). */
export function banned(seconds: number): RestError {
  return new RestError('TOO_MANY_LOGINS', { seconds }, { 'retry-after': String(seconds) });
}

/** The same, for a session over its request rate. */
export function tooOften(seconds: number): RestError {
  return new RestError('TOO_MANY_REQUESTS', { seconds }, { 'retry-after': String(seconds) });
}

function fill(template: string, details: ErrorDetails | undefined): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const detail = details?.[name];
    return typeof detail === 'string' || typeof detail === 'number' ? String(detail) : '';
  });
}
