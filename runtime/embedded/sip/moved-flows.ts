/** Calls of phones that connect again. */
import { isWebSocket, parseNameAddr, parseUri, SipParseError, type SipRequest } from '../stack/index.ts';
import type { Core } from './core.ts';

/**
 * A phone whose connection broke has registered the same Contact over another one: requests of its calls go there. As
 * drachtio-server, which calls it a mid-call handoff. A browser's Contact is a random name (RFC 7118 section 5); that of any other
 * phone can be guessed, so it must come from the same address as before.
 */
export function moveFlows({ dialogs, endpoint }: Core, register: SipRequest): void {
  const { source } = register;
  if (source === undefined || source.transport === 'udp' || register.values('via').length > 1) return;
  const { transport, address, port } = source;
  const contacts = new Set(register.values('contact').map(placeOf));
  for (const dialog of dialogs) {
    const { flow, target } = dialog;
    if (flow?.transport !== transport || target === undefined || !contacts.has(placeOf(target))) continue;
    if (!isWebSocket(transport) && flow.host !== address) continue;
    if (!endpoint.isConnected(flow)) dialog.flow = { transport, host: address, port };
  }
}

/** The user and host of a Contact: JsSIP gives it other parameters in calls than in registrations. */
function placeOf(contact: string): string {
  try {
    const { user, host, port } = parseUri(parseNameAddr(contact, 'Contact').uri);
    return `${user ?? ''}@${host.toLowerCase()}:${port ?? ''}`;
  } catch (error) {
    if (error instanceof SipParseError) return contact;
    throw error;
  }
}
