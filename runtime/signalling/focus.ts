import { bracketUri } from './sip-uri.ts';

/**
 * The Contact by which a phone knows that it talks to a conference, and can ask it for things (RFC 4579 section 5.1).
 * The SIP server puts its address in. Over TCP a phone needs to be told to stay there; other transports are left to the
 * server's own Contact.
 * @param room number of the room
 * @param protocol over which the phone is reached
 */
export function focusContact(room: string, protocol: string): Record<string, string> {
  const uri = bracketUri(room, 'localhost');
  if (protocol === 'udp') return { Contact: `${uri};isfocus` };
  return protocol === 'tcp' ? { Contact: `${uri.replace('>', ';transport=tcp>')};isfocus` } : {};
}
