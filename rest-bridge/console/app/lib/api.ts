/** The REST service in the person's session. A request that finds the session ended waits for the login and is sent again. */
import { ApiError, type Query, request, type RequestOptions } from './http.ts';
import { sessionEnded } from './session.ts';

export { ApiError } from './http.ts';

/** @throws as {@link request} */
export async function call(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  for (;;) {
    try {
      return await request(method, path, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      await sessionEnded();
    }
  }
}

/** Reads JSON. @throws as {@link request} */
export async function read<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  const options = { ...(query !== undefined && { query }), ...(signal !== undefined && { signal }) };
  return (await (await call('GET', path, options)).json()) as T;
}

/** Sends a body; answers its JSON, undefined for none. @throws as {@link request} */
export async function send<T>(method: string, path: string, body?: unknown, query?: Query): Promise<T> {
  const options = { ...(query !== undefined && { query }), ...(body !== undefined && { body }) };
  const text = await (await call(method, path, options)).text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
