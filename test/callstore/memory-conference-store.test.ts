import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { DialogEntry } from '../../runtime/callstore/memory-callstore.ts';
import { MemoryCallStore } from '../../runtime/callstore/memory-callstore.ts';
import { MemoryConferenceStore } from '../../runtime/callstore/memory-conference-store.ts';
import type { ConferenceSelector } from '../../runtime/callstore/conference-store.ts';

const SCOPE = { domain: asDomainName('demo.local') };

function dialog(dialogid: string, userId: string): DialogEntry {
  const uri = `<sip:${userId}@demo.local>`;
  return {
    view: {
      acallid: `a-${dialogid}`,
      callids: [`a-${dialogid}`, `b-${dialogid}`],
      dialogid,
      esgdlg: '',
      esgcallid: '',
      inviteid: `i-${dialogid}`,
      status: 'dialog',
      legs: [{ callid: `a-${dialogid}`, expirets: 'undefined', localuri: uri, remoteuri: uri, side: 'a' }],
      localuri: uri,
      remoteuri: uri,
      site: 'main',
      startts: 1,
      uris: [uri],
      opts: {},
    },
    domains: [asDomainName('demo.local')],
    providers: [],
    sipUsers: [
      { sipUserId: `s-${userId}`, domain: asDomainName('demo.local'), login: userId, phonenumber: '101', userId },
    ],
  };
}

function stores(): { calls: MemoryCallStore; conferences: MemoryConferenceStore } {
  const calls = new MemoryCallStore(() => undefined);
  const conferences = new MemoryConferenceStore(calls);
  for (const [room, domain] of [
    ['1', 'demo.local'],
    ['2', 'demo.local'],
    ['1', 'other.local'],
  ] as const) {
    const confid = `c${room}-${domain}`;
    const entry = {
      confid,
      confroomnum: room,
      confnumber: `f${room}`,
      uri: `<sip:*70${room}@${domain}>`,
      domain: asDomainName(domain),
    };
    const view = () => ({ ...entry, site: 'main', startts: 1, uris: [] });
    conferences.add({ ...entry, number: `*70${room}`, freePlaces: () => 1, view });
  }
  calls.put(dialog('d1', 'alice'));
  conferences.link('d1', 'c1-demo.local');
  return { calls, conferences };
}

describe('the conferences of a node', () => {
  const selectors: readonly ConferenceSelector[] = [
    { dialogid: 'd1' },
    { inviteid: 'i-d1' },
    { callid: 'b-d1' },
    { uri: 'sip:alice@DEMO.local' },
    { sipuserid: 's-alice' },
    { sipuserlogin: 'alice' },
    { sipuserphonenumber: '101' },
    { userid: 'alice' },
    { confid: 'c1-demo.local' },
    { confuri: 'sip:*701@Demo.Local' },
    { confroomnum: '1' },
    { confnumber: 'f1' },
    { confnumber: '*701' },
    { dialogid: 'd1', confid: 'c2-demo.local' },
  ];
  for (const selector of selectors) {
    it(`are found by ${JSON.stringify(selector)}, those of other domains not`, async () => {
      const { conferences } = stores();
      expect(await conferences.lookup(SCOPE, selector)).to.deep.equal(['c1-demo.local']);
    });
  }

  it("of a user are those connected with a dialog of the user's accounts", async () => {
    const { calls, conferences } = stores();
    const own = { ...SCOPE, ownUserId: 'alice' };
    expect((await conferences.list(own)).map(({ confid }) => confid)).to.deep.equal(['c1-demo.local']);
    expect(await conferences.read(own, 'c2-demo.local')).to.equal(undefined);
    expect(await conferences.list({ ...SCOPE, ownUserId: 'bob' })).to.deep.equal([]);
    calls.remove('d1');
    expect(await conferences.list(own)).to.deep.equal([]);
  });

  it('are removed without a trace', async () => {
    const { conferences } = stores();
    conferences.unlink('d1');
    expect(await conferences.lookup(SCOPE, { dialogid: 'd1' })).to.deep.equal([]);
    for (const { confid } of await conferences.list(SCOPE)) conferences.remove(confid);
    expect(await conferences.list(SCOPE)).to.deep.equal([]);
    expect(await conferences.lookup(SCOPE, { confroomnum: '1' })).to.deep.equal([]);
    expect(await conferences.isForeign(SCOPE, { confid: 'c1-other.local' })).to.equal(true);
    expect(await conferences.isForeign(SCOPE, { confid: 'c1-demo.local' })).to.equal(false);
    expect(await conferences.isForeign(SCOPE, { confuri: 'sip:*701@other.local' })).to.equal(true);
    expect(await conferences.isForeign(SCOPE, { confuri: '<sip:*701@demo.local>' })).to.equal(false);
    expect(await conferences.lookup(SCOPE, { confuri: 'sip:*701@other.local' })).to.deep.equal([]);
    expect(await conferences.numberOf('c1-other.local')).to.equal('*701');
  });
});
