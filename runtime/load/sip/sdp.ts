/** Session descriptions of a load: one stream of G.711 (RFC 8866, RFC 3264). */
import { isIPv6 } from 'node:net';
import { plainAddress } from '../../sip-facts/index.ts';
import { PCMA, PCMU } from '../media/g711.ts';
import type { FarEnd } from '../media/sound.ts';

const RTPMAP: Readonly<Record<number, string>> = { [PCMU]: 'PCMU', [PCMA]: 'PCMA' };

/** Offers or answers G.711. @param payloadTypes in order of preference */
export function describe(host: string, port: number, payloadTypes: readonly number[] = [PCMU, PCMA]): string {
  const network = `IN ${isIPv6(host) ? 'IP6' : 'IP4'} ${host}`;
  const lines = [
    'v=0',
    `o=- ${port} 1 ${network}`,
    's=load',
    `c=${network}`,
    't=0 0',
    `m=audio ${port} RTP/AVP ${payloadTypes.join(' ')}`,
    ...payloadTypes.map((type) => `a=rtpmap:${type} ${RTPMAP[type]}/8000`),
    'a=ptime:20',
    'a=sendrecv',
  ];
  return `${lines.join('\r\n')}\r\n`;
}

/** Where the far end wants sound, in its first codec of G.711; undefined when the description has none. */
export function farEndOf(body: Buffer): FarEnd | undefined {
  const text = body.toString('latin1');
  const start = text.indexOf('m=audio ');
  if (start < 0) return undefined;
  const following = text.indexOf('\nm=', start);
  const media = text.slice(start, following < 0 ? undefined : following + 1);
  const [, port, types = ''] = /^m=audio (\d+)(?:\/\d+)? RTP\/AVP((?: \d+)+)/.exec(media) ?? [];
  const connection = /^c=IN IP(?:4 ([\d.]+)|6 ([\da-f:.]+))/im;
  const [, v4, v6] = connection.exec(media) ?? connection.exec(text) ?? [];
  const address = v4 ?? v6;
  const payloadType = types
    .trim()
    .split(' ')
    .map(Number)
    .find((type) => type === PCMU || type === PCMA);
  if (address === undefined || payloadType === undefined || !(Number(port) > 0)) return undefined;
  return { address: plainAddress(address), port: Number(port), payloadType };
}
