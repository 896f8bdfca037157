import type { Channel } from './channel.ts';

/** Whether a channel's variable is set to what FreeSWITCH takes for true. */
export function isTrue(channel: Channel, name: string): boolean {
  return isTrueText(channel.get(name) ?? '');
}

/** What FreeSWITCH takes for true: some words, and every number but zero. */
export function isTrueText(text: string): boolean {
  return /^(?:yes|on|true|t|enabled|active|allow)$/i.test(text) || (/^-?\d+$/.test(text) && Number(text) !== 0);
}
