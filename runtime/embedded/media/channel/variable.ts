import type { Channel } from './channel.ts';

/** Whether a channel's variable is true in FreeSWITCH's sense. */
export function isTrue(channel: Channel, name: string): boolean {
  return isTrueText(channel.get(name) ?? '');
}

/** Whether a text is true in FreeSWITCH's sense: one of some words, or a number other than zero. */
export function isTrueText(text: string): boolean {
  return /^(?:yes|on|true|t|enabled|active|allow)$/i.test(text) || (/^-?\d+$/.test(text) && Number(text) !== 0);
}
