/** The dialog of the specification's tables, written again for the tests, and the rules of every dialog. */
import { expect } from 'chai';

export interface Leg {
  readonly callid: string;
  readonly expirets: number | 'undefined';
  readonly localuri: string;
  readonly remoteuri: string;
  readonly side: 'a' | 'b';
}

export interface Dialog {
  readonly acallid: string;
  readonly callids: readonly string[];
  readonly dialogid: string;
  readonly esgdlg: string;
  readonly esgcallid: string;
  readonly inviteid: string;
  readonly status: 'forking' | 'dialog';
  readonly legs: readonly Leg[];
  readonly localuri: string;
  readonly remoteuri: string;
  readonly site: string;
  readonly startts: number;
  readonly uris: readonly string[];
  readonly opts: Readonly<Record<string, string>>;
}

export const FIELDS = [
  'acallid',
  'callids',
  'dialogid',
  'esgdlg',
  'esgcallid',
  'inviteid',
  'status',
  'legs',
  'localuri',
  'remoteuri',
  'site',
  'startts',
  'uris',
  'opts',
] as const;

const URI = /^<sip:[^@<>\s]+@[^@<>;\s]+>$/;

/** The rules of every dialog between sipusers, in any state (specification, "Dialog"). */
export function expectWellFormed(dialog: Dialog): void {
  expect(Object.keys(dialog)).to.have.members(FIELDS);
  for (const name of ['acallid', 'dialogid', 'inviteid', 'site'] as const) {
    expect(dialog[name], name).to.be.a('string').and.not.equal('');
  }
  expect(dialog.esgdlg, 'esgdlg').to.equal('');
  expect(dialog.esgcallid, 'esgcallid').to.equal('');
  expect(dialog.status).to.be.oneOf(['forking', 'dialog']);
  expect(Number.isInteger(dialog.startts), 'startts is an integer').to.equal(true);
  expect(dialog.startts).to.be.within(Date.now() - 120_000, Date.now());
  for (const uri of [dialog.localuri, dialog.remoteuri, ...dialog.uris]) expect(uri).to.match(URI);
  expect(dialog.opts).to.be.an('object');
  expectLegs(dialog);
}

function expectLegs(dialog: Dialog): void {
  const aLegs = dialog.legs.filter((leg) => leg.side === 'a');
  const bLegs = dialog.legs.filter((leg) => leg.side === 'b');
  expect(aLegs, 'A legs').to.have.length(1);
  expect(aLegs.length + bLegs.length).to.equal(dialog.legs.length);
  expect(aLegs[0]).to.deep.include({
    callid: dialog.acallid,
    expirets: 'undefined',
    localuri: dialog.localuri,
    remoteuri: dialog.remoteuri,
  });
  if (dialog.status === 'dialog') expect(bLegs, 'B legs of an answered dialog').to.have.length(1);
  expect(dialog.callids).to.have.members(dialog.legs.map((leg) => leg.callid));
  expect(new Set(dialog.callids).size, 'each leg has a Call-ID of its own').to.equal(dialog.legs.length);
  for (const leg of dialog.legs) {
    expect(Object.keys(leg)).to.have.members(['callid', 'expirets', 'localuri', 'remoteuri', 'side']);
    expect(leg.localuri).to.match(URI);
    expect(leg.remoteuri).to.match(URI);
  }
}
