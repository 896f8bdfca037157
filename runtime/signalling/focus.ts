/** The Contact of a conference focus. */
import { bracketUri } from './sip-uri.ts';

/**
 * A Contact that identifies a conference (RFC 4579 section 5.1), to which a phone can send conference requests. The SIP
 * server inserts its address. Over other transports than UDP the transport must be named.
 * @param room number of the room
 * @param protocol of the phone's connection
 */
export function focusContact(room: string, protocol: string): Record<string, string> {
  const uri = bracketUri(room, 'localhost');
  const transport = protocol === 'udp' ? '' : `;transport=${protocol}`;
  return { Contact: `${uri.replace('>', `${transport}>`)};isfocus` };
}
