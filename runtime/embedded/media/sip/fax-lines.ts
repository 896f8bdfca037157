/** Faxes by T.38 over UDPTL in session descriptions (ITU-T T.38 annex D). */
import type { SessionDescription } from 'sdp-transform';
import { plainAddress } from '../../../sip-facts/index.ts';

/** The fax stream of a far end's description. */
export interface RemoteFax {
  /** Index of its m= line. */
  readonly index: number;
  readonly address: string;
  readonly port: number;
  /** Its lines `a=T38...`. */
  readonly attributes: readonly string[];
}

/** The first fax stream that is not refused. @param text the description as it came, as the parser drops attributes */
export function readFax(session: SessionDescription, text: string): RemoteFax | undefined {
  const index = session.media.findIndex(
    ({ type, port, protocol, payloads }) =>
      type === 'image' && port > 0 && port < 65_536 && /^udptl$/i.test(protocol) && /^t38$/i.test(String(payloads)),
  );
  const line = session.media[index];
  if (line === undefined) return undefined;
  const stream = text.split(/^m=/m)[index + 1] ?? '';
  return {
    index,
    address: plainAddress(line.connection?.ip ?? session.connection?.ip ?? ''),
    port: line.port,
    attributes: stream.match(/^a=T38\w*(?::[^\r\n]*)?/gim) ?? [],
  };
}
