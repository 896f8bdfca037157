/** Media direction that a session description asks for (RFC 3264 section 5.1). */
export type SdpDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/**
 * Direction of the first audio stream, seen from who wrote the description. The old way to hold, an address of
 * 0.0.0.0 (RFC 2543), counts as `inactive`.
 */
export function sdpDirection(sdp: string): SdpDirection {
  let session: SdpDirection = 'sendrecv';
  let media: SdpDirection | undefined;
  let address = '';
  let inAudio = false;
  for (const line of sdp.split(/\r?\n/)) {
    if (line.startsWith('m=')) {
      if (inAudio) break;
      inAudio = line.startsWith('m=audio');
      continue;
    }
    const direction = /^a=(sendrecv|sendonly|recvonly|inactive)\s*$/.exec(line)?.[1] as SdpDirection | undefined;
    if (direction !== undefined) {
      if (inAudio) media = direction;
      else session = direction;
    }
    const connection = /^c=IN IP[46] (\S+)/.exec(line)?.[1];
    if (connection !== undefined && (inAudio || address === '')) address = connection;
  }
  if (address === '0.0.0.0' || address === '::') return 'inactive';
  return media ?? session;
}

/** The description with `recvonly` on every medium. */
export function receivingOnly(sdp: string): string {
  const undirected = sdp.replace(/^a=(?:sendrecv|sendonly|recvonly|inactive)\r?\n/gm, '');
  const [session = '', ...media] = undirected.split(/^(?=m=)/m);
  return session + media.map((medium) => `${medium}a=recvonly\r\n`).join('');
}
