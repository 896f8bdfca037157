/** The event package `conference` (RFC 4575): who is in a room, for those who are in it. */
import type { ParticipantView } from '../../callstore/index.ts';
import type { Conferences } from '../../conference/index.ts';
import type { DomainName } from '../../domain-name/index.ts';
import type { SipUser } from '../../domain/index.ts';
import { bracketUri, plainUri } from '../../signalling/index.ts';
import { xml } from './dialog-info.ts';
import type { EventPackage } from './event-package.ts';

const EVENT = 'conference';
const CONFERENCE_INFO = 'application/conference-info+xml';

/** Status of an endpoint (RFC 4575 section 5.7.2). */
const STATUS: Readonly<Record<ParticipantView['state'], string>> = {
  calling: 'pending',
  ringing: 'alerting',
  connected: 'connected',
  hold: 'on-hold',
  disconnected: 'disconnected',
};

/** The document with all participants. @param entity URI of the room */
export function conferenceInfo(entity: string, version: number, participants: readonly ParticipantView[]): string {
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
export function conferencePackage(conferences: Pick<Conferences, 'roomAt'>): EventPackage {
  return {
    name: EVENT,
    type: CONFERENCE_INFO,
    defaultExpires: 3600,
    resource: (subscriber, target) => {
      const room = conferences.roomAt(subscriber.domain, target);
      if (room === undefined) return { refusal: 404 };
      return isIn(subscriber, room.participants()) ? { key: roomKey(subscriber.domain, target) } : { refusal: 403 };
    },
    state: async ({ domain }, target) => {
      const participants = conferences.roomAt(domain, target)?.participants() ?? [];
      const entity = plainUri(target, domain);
      return { type: CONFERENCE_INFO, text: (version) => conferenceInfo(entity, version, participants) };
    },
  };
}

/** Key of the resource. @param number to dial */
export function roomKey(domain: DomainName, number: string): string {
  return `${domain} ${number}`;
}

function isIn({ login, phonenumber, domain }: SipUser, participants: readonly ParticipantView[]): boolean {
  const uris = new Set([bracketUri(login, domain), bracketUri(phonenumber, domain)]);
  return participants.some(({ ruri, state }) => state !== 'disconnected' && uris.has(ruri));
}
