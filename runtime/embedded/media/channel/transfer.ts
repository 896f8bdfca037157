import { randomUUID } from 'node:crypto';
import type { Channel } from './channel.ts';
import type { QueuedExecution } from './parts.ts';

/**
 * Reads a destination of the inline dialplan: `app:argument,app:argument`. Arguments with commas need single quotes, or
 * a backslash before each comma. Other dialplans have no extensions here, so the call ends with NO_ROUTE_DESTINATION.
 */
export function parseInlineDialplan(destination: string, dialplan: string): QueuedExecution[] {
  if (dialplan.toLowerCase() !== 'inline')
    return [{ application: 'hangup', data: 'NO_ROUTE_DESTINATION', uuid: randomUUID() }];
  const parts = destination.match(/(?:'[^']*'|\\.|[^,'])+/g) ?? [];
  return parts.map((part) => {
    const text = part.replaceAll("'", '').replaceAll('\\,', ',');
    const colon = text.indexOf(':');
    const application = (colon < 0 ? text : text.slice(0, colon)).trim();
    return { application, data: colon < 0 ? '' : text.slice(colon + 1), uuid: randomUUID() };
  });
}

/**
 * `[-bleg|-both] <destination> [<dialplan>] [<context>]`: transfers a channel, the other leg of its bridge, or both.
 *
 * @returns false without a destination
 */
export function transferTo(channel: Channel, words: readonly string[]): boolean {
  const which = words[0]?.startsWith('-') ? words[0] : undefined;
  const [destination = '', dialplan = 'XML'] = which === undefined ? words : words.slice(1);
  if (destination === '') return false;
  const extension = parseInlineDialplan(destination, dialplan);
  const other = channel.otherLeg === undefined ? undefined : channel.core.channels.get(channel.otherLeg.uuid);
  const isBridged = other?.otherLeg?.uuid === channel.uuid && other.bridged;
  const legs = which === '-bleg' ? [] : [channel];
  if (isBridged && (which === '-bleg' || which === '-both')) legs.push(other);
  transfer(legs, extension, destination, dialplan);
  return true;
}

/** Transfers channels to an extension at the next tick; their applications end. */
export function transfer(
  channels: readonly Channel[],
  extension: readonly QueuedExecution[],
  destination: string,
  dialplan: string,
): void {
  channels[0]?.atNextTick(() => {
    const live = channels.filter((channel) => !channel.ended);
    // All states change first, so that a leg leaving its bridge is not parked in between.
    for (const channel of live) channel.setState('CS_ROUTING');
    for (const channel of live) route(channel, extension, destination, dialplan);
  });
}

function route(channel: Channel, extension: readonly QueuedExecution[], destination: string, dialplan: string): void {
  channel.setParked(false);
  channel.unwind();
  channel.otherLeg = undefined;
  channel.dialplan = dialplan;
  channel.times.transfer = Date.now() * 1000;
  channel.renewProfile('bl_xfer', `${destination}/${channel.profile.context}/${dialplan}`);
  channel.setState('CS_ROUTING');
  channel.setCallState('RINGING');
  channel.setState('CS_EXECUTE');
  channel.setCallState('ACTIVE');
  channel.route(extension);
}
