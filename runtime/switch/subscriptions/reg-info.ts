/** The event package `reg` (RFC 3680): the registered contacts of a sipuser. */
import { createHash } from 'node:crypto';
import { type ContactBinding, type Directory, isNamed, type LocationStore, sipUserNamed } from '../../domain/index.ts';
import { plainUri } from '../../signalling/index.ts';
import { xml } from './dialog-info.ts';
import type { EventPackage } from './event-package.ts';

const REGINFO = 'application/reginfo+xml';

/** The document with all contacts. @param aor address of record */
export function regInfo(aor: string, version: number, contacts: readonly Pick<ContactBinding, 'contact'>[]): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<reginfo xmlns="urn:ietf:params:xml:ns:reginfo" version="${version}" state="full">`,
    `<registration aor="${xml(aor)}" id="r1" state="${contacts.length > 0 ? 'active' : 'terminated'}">`,
    ...contacts.map(
      ({ contact }) =>
        `<contact id="${createHash('sha256').update(contact).digest('hex').slice(0, 16)}" state="active" event="registered"><uri>${xml(contact)}</uri></contact>`,
    ),
    '</registration>',
    '</reginfo>',
    '',
  ];
  return lines.join('\r\n');
}

/** A sipuser may watch its own registration. */
export function regPackage(directory: Directory, location: Pick<LocationStore, 'contacts'>): EventPackage {
  return {
    name: 'reg',
    type: REGINFO,
    defaultExpires: 3600,
    resource: (subscriber, target) => {
      if (target === '' || isNamed(subscriber, target)) return { key: subscriber.id };
      return { refusal: sipUserNamed(directory, subscriber.domain, target) === undefined ? 404 : 403 };
    },
    state: async ({ id, phonenumber, domain }) => ({
      type: REGINFO,
      text: (version) => regInfo(plainUri(phonenumber, domain), version, location.contacts(id)),
    }),
  };
}
