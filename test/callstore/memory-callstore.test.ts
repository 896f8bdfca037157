import { expect } from 'chai';
import { asDomainName, type DomainName } from '../../runtime/domain-name/index.ts';
import type { DialogView } from '../../runtime/callstore/dialog-view.ts';
import { type DialogEntry, MemoryCallStore } from '../../runtime/callstore/memory-callstore.ts';

const DEMO = asDomainName('demo.local');
const OTHER = asDomainName('other.local');
const ALICE = { sipUserId: 's-alice', domain: DEMO, login: 'alice', phonenumber: '101', userId: 'u-alice' };
const BOB = { sipUserId: 's-bob', domain: DEMO, login: 'bob', phonenumber: '102', userId: undefined };

function entry(dialogid: string, changes: Partial<DialogView> = {}, domains = [DEMO]): DialogEntry {
  return {
    view: {
      acallid: `a-${dialogid}`,
      callids: [`a-${dialogid}`, `b-${dialogid}`],
      dialogid,
      esgdlg: '',
      esgcallid: '',
      inviteid: `invite-${dialogid}`,
      status: 'dialog',
      legs: [
        {
          callid: `a-${dialogid}`,
          expirets: 'undefined',
          localuri: '<sip:102@demo.local>',
          remoteuri: '<sip:101@demo.local>',
          side: 'a',
        },
        {
          callid: `b-${dialogid}`,
          expirets: 1,
          localuri: '<sip:101@demo.local>',
          remoteuri: '<sip:102@demo.local>',
          side: 'b',
        },
      ],
      localuri: '<sip:102@demo.local>',
      remoteuri: '<sip:101@demo.local>',
      site: 'main',
      startts: 1,
      uris: ['<sip:alice@demo.local>', '<sip:101@demo.local>', '<sip:bob@demo.local>', '<sip:102@demo.local>'],
      opts: {},
      ...changes,
    },
    domains,
    providers: [],
    sipUsers: [ALICE, BOB],
  };
}

describe('the callstore', () => {
  const logins: Record<string, string> = { 101: 'alice', 102: 'bob' };
  let store: MemoryCallStore;
  beforeEach(() => {
    store = new MemoryCallStore((_domain, number) => logins[number]);
  });

  it('finds a dialog by each of the nine selectors', async () => {
    store.put(entry('d1'));
    const selectors = [
      { dialogid: 'd1' },
      { inviteid: 'invite-d1' },
      { callid: 'b-d1' },
      { uri: '<sip:102@DEMO.local>' },
      { uri: 'sip:102@demo.local' },
      { from: '101' },
      { from: 'bob' },
      { from: 'alice', mode: 'sipuser' as const },
      { sipuserid: 's-bob' },
      { sipuserlogin: 'alice' },
      { sipuserphonenumber: '102' },
      { userid: 'u-alice' },
    ];
    for (const selector of selectors) {
      expect(await store.lookup({ domain: DEMO }, selector), JSON.stringify(selector)).to.deep.equal(['d1']);
    }
  });

  it('uses only the selector with the highest priority', async () => {
    store.put(entry('d1'));
    expect(await store.lookup({ domain: DEMO }, { dialogid: 'other', callid: 'a-d1' })).to.deep.equal([]);
  });

  it('finds a number also under the login of its sipuser', async () => {
    store.put(entry('d1', { uris: ['<sip:alice@demo.local>'], legs: [] }));
    expect(await store.lookup({ domain: DEMO }, { from: '101' })).to.deep.equal(['d1']);
    expect(await store.lookup({ domain: DEMO }, { from: '103' })).to.deep.equal([]);
  });

  it('does not find a login by number in mode sipuser', async () => {
    store.put(entry('d1'));
    expect(await store.lookup({ domain: DEMO }, { from: '101', mode: 'sipuser' })).to.deep.equal([]);
  });

  it('searches only the remote URIs of legs by uri', async () => {
    store.put(entry('d1'));
    expect(await store.lookup({ domain: DEMO }, { uri: '<sip:alice@demo.local>' })).to.deep.equal([]);
  });

  it('shows a dialog to the domains of its legs only', async () => {
    store.put(entry('d1', {}, [DEMO, OTHER]));
    expect((await store.list({ domain: OTHER })).map((view) => view.dialogid)).to.deep.equal(['d1']);
    expect(await store.list({ domain: asDomainName('third.local') })).to.deep.equal([]);
    expect(await store.read({ domain: asDomainName('third.local') }, 'd1')).to.equal(undefined);
    expect(await store.lookup({ domain: asDomainName('third.local') }, { dialogid: 'd1' })).to.deep.equal([]);
  });

  it("selects a domain's own account by name", async () => {
    const zoe = { ...ALICE, sipUserId: 's-zoe', domain: OTHER, userId: 'u-zoe' };
    const uris = ['<sip:alice@other.local>', '<sip:101@other.local>', '<sip:bob@demo.local>', '<sip:102@demo.local>'];
    store.put({ ...entry('d1', { uris, legs: [] }, [OTHER, DEMO]), sipUsers: [zoe, BOB] });
    for (const selector of [
      { from: '101' },
      { from: 'alice', mode: 'sipuser' as const },
      { sipuserlogin: 'alice' },
      { sipuserphonenumber: '101' },
    ]) {
      const found = (domain: DomainName) => store.lookup({ domain }, selector);
      expect([await found(DEMO), await found(OTHER)], JSON.stringify(selector)).to.deep.equal([[], ['d1']]);
    }
    expect(await store.lookup({ domain: DEMO }, { from: '102' })).to.deep.equal(['d1']);
  });

  it('lists the oldest dialog first, also after a change', async () => {
    store.put(entry('d1'));
    store.put(entry('d2'));
    store.put(entry('d1', { status: 'forking' }));
    expect((await store.list({ domain: DEMO })).map((view) => view.dialogid)).to.deep.equal(['d1', 'd2']);
  });

  it('drops the keys that a dialog no longer has, and all keys at its end', async () => {
    store.put(entry('d1'));
    store.put(entry('d1', { callids: ['a-d1'] }));
    expect(await store.lookup({ domain: DEMO }, { callid: 'b-d1' })).to.deep.equal([]);
    store.remove('d1');
    expect(await store.lookup({ domain: DEMO }, { from: '101' })).to.deep.equal([]);
    expect(store.count).to.equal(0);
  });
});
