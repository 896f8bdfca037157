/** Who sends and receives the messages of a ladder, and what each message says in a few words. */
import type { LadderMessage, LadderView } from '../../ladder/index.ts';
import { rawHeader } from '../../signalling/index.ts';

/** A party of the diagram: this platform, or a far end. */
export interface Lane {
  /** `101 Alice`, `ringmaster`. */
  readonly name: string;
  /** `ip:port`; empty where it is not known. */
  readonly address: string;
}

/** A message between two lanes. */
export interface Rung {
  readonly message: LadderMessage;
  /** Numbers of the lanes. */
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

export interface Drawing {
  /** The first far end, this platform, and the other far ends in the order in which they appear. */
  readonly lanes: readonly Lane[];
  readonly rungs: readonly Rung[];
}

export const PLATFORM = 'ringmaster';
/** A method or `SIP/2.0`, the URI or status, the rest. */
const START = /^(\S+)[ \t]+(\S+)[ \t]*([^\r\n]*)/;

/**
 * The lanes and rungs of a ladder. Each address of a far end is a lane, named after the first leg there. An address that is not
 * known, of a message that was on no wire, is that of the leg's other messages.
 */
export function drawingOf({ legs, messages }: LadderView): Drawing {
  const farOf = new Map<string, string>();
  for (const message of messages)
    if (far(message) !== '' && !farOf.has(message.callid)) farOf.set(message.callid, far(message));
  const addressOf = (message: LadderMessage): string => far(message) || (farOf.get(message.callid) ?? '');
  const names = new Map<string, string>();
  for (const message of messages) {
    const leg = legs.find(({ callid }) => callid === message.callid);
    const address = addressOf(message);
    if (!names.has(address)) names.set(address, [leg?.number, leg?.name].filter(Boolean).join(' ') || 'far end');
  }
  const [first, ...others] = [...names].map(([address, name]) => ({ name, address }));
  const platform = { name: PLATFORM, address: messages.map(near).find((address) => address !== '') ?? '' };
  const lanes = first === undefined ? [platform] : [first, platform, ...others];
  const rungs = messages.map((message) => {
    const address = addressOf(message);
    const other = lanes.findIndex((lane) => lane !== platform && lane.address === address);
    return { message, from: message.sent ? 1 : other, to: message.sent ? other : 1, label: labelOf(message) };
  });
  return { lanes, rungs };
}

function far({ sent, from, to }: LadderMessage): string {
  return sent ? to : from;
}

function near({ sent, from, to }: LadderMessage): string {
  return sent ? from : to;
}

/** What a message says: `INVITE 102`, `180 Ringing`, `re-INVITE`, with `SDP` where it has a session description. */
export function labelOf({ text, transport, wire }: Pick<LadderMessage, 'text' | 'transport' | 'wire'>): string {
  const [, first = '', second = '', rest = ''] = START.exec(text) ?? [];
  const method = rawHeader(text, 'CSeq')?.split(/\s+/)[1] ?? '';
  const isResponse = first.startsWith('SIP/');
  const what = isResponse
    ? [second, rest, method === 'INVITE' ? '' : `(${method})`]
    : requestWords(first, second, text);
  const extras = [
    /^application\/sdp\b/i.test(rawHeader(text, 'Content-Type', 'c') ?? '') ? '+SDP' : '',
    transport === 'udp' ? '' : transport.toUpperCase(),
    wire ? '' : '[not on the wire]',
  ];
  return [...what, ...extras].filter((part) => part !== '').join(' ');
}

function requestWords(method: string, uri: string, text: string): string[] {
  const isWithin = /;\s*tag=/i.test(rawHeader(text, 'To', 't') ?? '');
  if (method === 'INVITE') return isWithin ? ['re-INVITE'] : ['INVITE', userOf(uri)];
  if (method === 'REFER') return ['REFER', userOf(rawHeader(text, 'Refer-To', 'r') ?? '')];
  if (method === 'NOTIFY')
    return ['NOTIFY', rawHeader(text, 'Event', 'o') ?? '', /\r\n\r\nSIP\/2\.0 (\d{3})/.exec(text)?.[1] ?? ''];
  return [method];
}

function userOf(uri: string): string {
  return /sips?:([^@;>?]*)@/i.exec(uri)?.[1] ?? '';
}
