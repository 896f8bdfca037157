/** Access of commands to a running node over REST. */
import process from 'node:process';
import { listeningHosts } from '../config/index.ts';

/** The demo administrator (see README), which exists only when every listener is on loopback. */
const DEMO_LOGIN = { domain: 'demo.local', login: 'admin', pwd: 'demo-admin', session_type: 'token' };

/** URL of a node with this machine's settings. */
export function nodeUrl(): string {
  const { RINGMASTER_HTTP_HOST: host = '127.0.0.1', RINGMASTER_HTTP_PORT: port = '8080' } = process.env;
  const [first = '127.0.0.1'] = listeningHosts('RINGMASTER_HTTP_HOST', host);
  return `http://${first.includes(':') ? `[${first}]` : first}:${port}`;
}

/**
 * The given token, that of the environment, or one of the demo administrator.
 * @throws TypeError without a token
 */
export async function tokenFor(base: string, given: string | undefined): Promise<string> {
  return given ?? process.env.RINGMASTER_TOKEN ?? (await logIn(base));
}

async function logIn(base: string): Promise<string> {
  const response = await ask(`${base}/iam/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(DEMO_LOGIN),
  });
  const { session_token: token } = (await response.json()) as { session_token?: string };
  if (!response.ok || token === undefined)
    throw new TypeError(
      'there is no demo administrator here: give --token or RINGMASTER_TOKEN (ringmaster login makes one)',
    );
  return token;
}

/** @throws TypeError when no node answers */
export async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw new TypeError(`no node answers at ${new URL(url).origin}`, { cause: error });
  }
}
