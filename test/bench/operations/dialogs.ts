import { randomBytes, randomUUID } from 'node:crypto';
import { asDomainName } from '../../../runtime/domain-name/index.ts';
import type { DialogEntry } from '../../../runtime/callstore/memory-callstore.ts';

const DOMAIN = asDomainName('demo.local');

/** A live call of two separate accounts, in the form that the switch writes to the callstore. */
export function liveDialog(index: number): DialogEntry {
  const [x, y] = [party(index * 2), party(index * 2 + 1)];
  const [acallid, bcallid] = [`${randomUUID()}@${DOMAIN}`, `${randomUUID()}@${DOMAIN}`];
  return {
    view: {
      acallid,
      callids: [acallid, bcallid],
      dialogid: randomBytes(6).toString('hex'),
      esgdlg: '',
      esgcallid: '',
      inviteid: randomUUID(),
      status: 'dialog',
      legs: [
        { callid: acallid, expirets: 'undefined', localuri: y.uri, remoteuri: x.uri, side: 'a' },
        { callid: bcallid, expirets: Date.now(), localuri: x.uri, remoteuri: y.uri, side: 'b' },
      ],
      localuri: y.uri,
      remoteuri: x.uri,
      site: index % 10 === 0 ? 'north' : 'main',
      startts: Date.now(),
      uris: [x.named, x.uri, y.named, y.uri],
      opts: {},
    },
    domains: [DOMAIN],
    providers: [],
    sipUsers: [x.account, y.account],
  };
}

function party(index: number) {
  const phonenumber = String(1_000_000 + index);
  const login = `user${index}`;
  return {
    uri: `<sip:${phonenumber}@${DOMAIN}>`,
    named: `<sip:${login}@${DOMAIN}>`,
    account: { domain: DOMAIN, sipUserId: `sipuser-${index}`, login, phonenumber, userId: `id-${index}` },
  };
}
