/** Calls that nobody made, for what counts calls by the thousand. */
import type { SharedCall } from '../../../runtime/callstore/index.ts';
import { asDomainName } from '../../../runtime/domain-name/index.ts';

export const DOMAIN = asDomainName('demo.local');

/** Number of the caller of a made call. */
export function numberOf(index: number): string {
  return `c${index}`;
}

/** The talking call of this index, between two numbers of its own. */
export function callOf(index: number): SharedCall {
  const id = `call-${index}`;
  const [localuri, remoteuri] = [`<sip:d${index}@${DOMAIN}>`, `<sip:${numberOf(index)}@${DOMAIN}>`];
  const leg = (side: 'a' | 'b') => ({
    callid: `${id}-${side}`,
    expirets: 'undefined' as const,
    localuri,
    remoteuri,
    side,
  });
  return {
    entry: {
      view: {
        acallid: `${id}-a`,
        callids: [`${id}-a`, `${id}-b`],
        dialogid: `d${index}`,
        esgdlg: '',
        esgcallid: '',
        inviteid: id,
        status: 'dialog',
        legs: [leg('a'), leg('b')],
        localuri,
        remoteuri,
        site: 'main',
        startts: index,
        uris: [localuri, remoteuri],
        opts: {},
      },
      domains: [DOMAIN],
      sipUsers: [],
      providers: [],
    },
    facts: {
      id,
      dialogid: `d${index}`,
      dialled: `d${index}`,
      dialledDomain: DOMAIN,
      began: index,
      legs: [],
      labels: [],
      replaced: [],
      replacedBy: [],
    },
    sides: [],
  };
}
