/** The session of the person at this browser. */
import { batch, signal } from '@preact/signals';
import { ApiError, request } from './http.ts';

/** Answer of `GET /iam/sessions/current`, as far as the console uses it. */
export interface SessionData {
  readonly domain: string;
  readonly domains: readonly { readonly domain: string; readonly is_master: boolean }[];
  readonly login: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly user_id: string;
}

export interface Credentials {
  readonly domain: string;
  readonly login: string;
  readonly pwd: string;
}

/** `ended`: the session is over while a page is open; the page stays, and the person logs in above it. */
export const sessionState = signal<'starting' | 'out' | 'in' | 'ended'>('starting');
export const session = signal<SessionData | undefined>(undefined);

const CURRENT = '/iam/sessions/current';
let loggedIn = Promise.withResolvers<void>();

/** Finds out whether the browser has a session. @throws ApiError when the node does not answer */
export async function findSession(): Promise<void> {
  try {
    enter(await current());
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    sessionState.value = 'out';
  }
}

/**
 * Logs in. Requests that waited for it go on; for another person the page begins anew.
 *
 * @throws ApiError wrong credentials (401), too many tries (429); status 0 with code 1 when the browser keeps no cookie
 */
export async function logIn(credentials: Credentials): Promise<void> {
  await request('POST', '/iam/sessions', { body: { ...credentials, session_type: 'cookie' } });
  const now = await current().catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 401 ? new ApiError(0, 'no cookie', 1) : error;
  });
  const before = session.value;
  if (before !== undefined && (before.user_id !== now.user_id || before.domain !== now.domain)) location.reload();
  else enter(now);
}

/** Ends the session and begins anew. @param onEnd ends what goes on in this window */
export async function logOut(onEnd: () => void): Promise<void> {
  await request('DELETE', CURRENT).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  });
  onEnd();
  location.reload();
}

/** Goes on in another domain that the person administers. */
export async function changeDomain(domain: string): Promise<void> {
  await request('PATCH', CURRENT, { body: { domain } });
  location.reload();
}

/** Reports that the session is over. Settles when the person has logged in again. */
export function sessionEnded(): Promise<void> {
  if (sessionState.value === 'in') sessionState.value = 'ended';
  return loggedIn.promise;
}

/** Asks the node whether the session lives; waits for a login if not. @throws ApiError when the node does not answer */
export async function checkSession(): Promise<void> {
  try {
    const { domain } = await current();
    // Another window with this session went to another domain.
    if (session.value !== undefined && session.value.domain !== domain) location.reload();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    await sessionEnded();
  }
}

async function current(): Promise<SessionData> {
  return (await (await request('GET', CURRENT)).json()) as SessionData;
}

function enter(data: SessionData): void {
  batch(() => {
    session.value = data;
    sessionState.value = 'in';
  });
  loggedIn.resolve();
  loggedIn = Promise.withResolvers();
}
