/** The event package `conference` (RFC 4575): who is in a room, for those who are in it. */
import type { ParticipantView } from '../../callstore/index.ts';
import type { Conferences } from '../../conference/index.ts';
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { SipUser } from '../../domain/index.ts';
import { bracketUri, plainUri } from '../../signalling/index.ts';
import { xml } from './dialog-info.ts';
import type { Elsewhere, EventPackage } from './event-package.ts';

const EVENT = 'conference';
const CONFERENCE_INFO = 'application/conference-info+xml';

/** What is shown of a participant. */
export type Participant = Pick<ParticipantView, 'participantid' | 'ruri' | 'state'>;

/** Status of an endpoint (RFC 4575 section 5.7.2). */
const STATUS: Readonly<Record<ParticipantView['state'], string>> = {
  calling: 'pending',
  ringing: 'alerting',
  connected: 'connected',
  hold: 'on-hold',
  disconnected: 'disconnected',
};

/** The document with all participants. @param entity URI of the room */
export function conferenceInfo(entity: string, version: number, participants: readonly Participant[]): string {
  const there = participants.filter(({ state }) => state === 'connected' || state === 'hold').length;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<conference-info xmlns="urn:ietf:params:xml:ns:conference-info" entity="${xml(entity)}" state="full" version="${version}">`,
    `<conference-state><user-count>${there}</user-count></conference-state>`,
    '<users>',
    ...participants.map(({ participantid, ruri, state }) => {
      const uri = ruri.replace(/^<|>$/g, '');
      const endpoint = `<endpoint entity="${xml(uri)};participant=${xml(participantid)}"><status>${STATUS[state]}</status></endpoint>`;
      return `<user entity="${xml(uri)}" state="full">${endpoint}</user>`;
    }),
    '</users>',
    '</conference-info>',
    '',
  ];
  return lines.join('\r\n');
}

/** A participant may watch its room, as long as it is in it. */
export function conferencePackage(
  conferences: Pick<Conferences, 'roomAt'>,
  elsewhere: Elsewhere<readonly Participant[]>,
): EventPackage {
  const own = (domain: DomainName, number: string): readonly Participant[] | undefined =>
    conferences
      .roomAt(domain, number)
      ?.participants()
      .map(({ participantid, ruri, state }) => ({ participantid, ruri, state }));
  /** Of the room, whichever node has it; undefined: there is none. */
  const all = (domain: DomainName, number: string): readonly Participant[] | undefined => {
    const here = own(domain, number);
    const rooms = [...(here === undefined ? [] : [here]), ...elsewhere(roomKey(domain, number))];
    return rooms.length === 0 ? undefined : rooms.flat();
  };
  return {
    name: EVENT,
    type: CONFERENCE_INFO,
    defaultExpires: 3600,
    resource: (subscriber, target) => {
      const participants = all(subscriber.domain, target);
      if (participants === undefined) return { refusal: 404 };
      return isIn(subscriber, participants) ? { key: roomKey(subscriber.domain, target) } : { refusal: 403 };
    },
    state: async ({ domain }, target) => {
      const participants = all(domain, target) ?? [];
      const entity = plainUri(target, domain);
      return { type: CONFERENCE_INFO, text: (version) => conferenceInfo(entity, version, participants) };
    },
    own: (key) => {
      const [domain = '', number = ''] = key.split(' ');
      return own(asDomainName(domain), number);
    },
    place: ({ domain }, target) => roomKey(domain, target),
  };
}

/** Key of the resource. @param number to dial */
export function roomKey(domain: DomainName, number: string): string {
  return `${domain} ${number}`;
}

function isIn({ login, phonenumber, domain }: SipUser, participants: readonly Participant[]): boolean {
  const uris = new Set([bracketUri(login, domain), bracketUri(phonenumber, domain)]);
  return participants.some(({ ruri, state }) => state !== 'disconnected' && uris.has(ruri));
}
