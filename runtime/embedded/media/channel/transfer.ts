import { randomUUID } from 'node:crypto';
import type { Channel, QueuedExecution } from './channel.ts';

/**
 * Reads a destination of the inline dialplan: `app:argument,app:argument`, with single quotes around arguments that
 * contain commas. Any other dialplan has no extensions here: the call is then ended as unroutable.
 */
export function parseInlineDialplan(destination: string, dialplan: string): QueuedExecution[] {
  if (dialplan.toLowerCase() !== 'inline')
    return [{ application: 'hangup', data: 'NO_ROUTE_DESTINATION', uuid: randomUUID() }];
  const parts = destination.match(/(?:'[^']*'|[^,'])+/g) ?? [];
  return parts.map((part) => {
    const text = part.replaceAll("'", '');
    const colon = text.indexOf(':');
    const application = (colon < 0 ? text : text.slice(0, colon)).trim();
    return { application, data: colon < 0 ? '' : text.slice(colon + 1), uuid: randomUUID() };
  });
}

/** Sends a channel to an extension at the next tick: what it is doing ends, the call is routed anew. */
export function transfer(
  channel: Channel,
  extension: readonly QueuedExecution[],
  destination: string,
  dialplan: string,
): void {
  const source = `${Math.floor(Date.now() / 1000)}:${randomUUID()}:bl_xfer:${destination}/${channel.profile.context}/${dialplan}`;
  channel.atNextTick(() => {
    if (channel.ended) return;
    channel.unwind();
    channel.otherLeg = undefined;
    channel.dialplan = dialplan;
    channel.times.transfer = Date.now() * 1000;
    const history = channel.variables.get('transfer_history');
    const earlier = history === undefined ? [] : typeof history === 'string' ? [history] : history;
    channel.variables.set('transfer_history', earlier.length === 0 ? source : [...earlier, source]);
    channel.set('transfer_source', source);
    channel.setState('CS_ROUTING');
    channel.setCallState('RINGING');
    channel.setState('CS_EXECUTE');
    channel.setCallState('ACTIVE');
    channel.route(extension);
  });
}
