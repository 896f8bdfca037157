/** The address that the SIP of a called party comes from. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { bareHost, parseSipUri } from '../../signalling/index.ts';
import type { CalleeAddress } from './callee.ts';

/** Longest wait for a name, ms: the SIP server asks again, and what is lost is only the choice of an address for the sound. */
const PATIENCE_MS = 2000;

/**
 * The IP address of the next hop of a call, by which the media server chooses the address for the sound. Names are looked up, IPv4 first,
 * as SIP servers do.
 * @returns undefined for a name without an address. Never rejects
 */
export async function peerOf({ uri, nextHop }: Pick<CalleeAddress, 'uri' | 'nextHop'>): Promise<string | undefined> {
  const next = parseSipUri(nextHop ?? uri);
  if (next === undefined) return undefined;
  const host = bareHost(next.params['maddr'] ?? next.host);
  if (isIP(host) !== 0) return host;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  const found = lookup(host, { order: 'ipv4first' }).then(
    ({ address }) => address,
    () => undefined,
  );
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}
