/** Requests to the REST service of this node, with typed errors. */

export const BASE_PATH = '/rest/v1';

type QueryValue = string | number | boolean | object | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface RequestOptions {
  readonly query?: Query;
  /** Sent as JSON, except files and forms. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A refused request, or one without an answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status; 0 when the node gave no answer. */
  readonly status: number;
  /** `error_code` of the service; 0 without one. */
  readonly code: number;
  /** The field with the mistake. */
  readonly field: string | undefined;
  /** What is wrong with it, and what to do. */
  readonly reason: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, code = 0, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.field = textOf(details['field']);
    this.reason = textOf(details['reason']);
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * One request with the session's cookie.
 *
 * @param path below `/rest/v1`, percent-encoded; a custom method is a suffix, as in `/uc/calls/ID!refer`
 * @throws ApiError for a status from 400, and with status 0 when the node does not answer
 * @throws DOMException when `signal` aborts it
 */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, headers, signal } = options;
  const asJson = body !== undefined && !(body instanceof Blob) && !(body instanceof FormData);
  let response: Response;
  try {
    response = await fetch(`${BASE_PATH}${path}${queryText(query)}`, {
      method,
      headers: { accept: 'application/json', ...(asJson && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: asJson ? JSON.stringify(body) : body }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, String(error));
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** `?name=value`, objects as JSON; empty without values. */
export function queryText(query: Query | undefined): string {
  const set = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  );
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`;
}

async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error_code, error_message, error_details } = (body ?? {}) as Record<string, unknown>;
  return new ApiError(
    response.status,
    textOf(error_message) ?? `${response.status} ${response.statusText}`,
    typeof error_code === 'number' ? error_code : 0,
    typeof error_details === 'object' && error_details !== null ? { ...error_details } : {},
  );
}
