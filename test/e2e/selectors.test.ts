import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Phone } from '../phones/phone.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import type { RestAnswer } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError, expectTalk } from './expectations.ts';

/** Selectors in order of priority (specification, "Dialog selectors"). */
const PRIORITY = [
  'dialogid',
  'inviteid',
  'callid',
  'uri',
  'from',
  'sipuserid',
  'sipuserlogin',
  'sipuserphonenumber',
  'userid',
] as const;
type Named = Readonly<Record<(typeof PRIORITY)[number], string>>;

const ALICE = '<sip:alice@demo.local>';

/** Looks up both calls by selectors, and logs the answers. */
const ASKER = `export default async function (call, args) {
  await call.answer();
  const { ids } = await operation.lookup({ userid: args.second, callid: args.first });
  const all = (await operation.lookup({ sipuserlogin: 'alice' })).ids;
  let ambiguous;
  try { await operation.switchconf({ from: '101' }); } catch (error) { ambiguous = error.code; }
  const ended = await operation.delete({ sipuserlogin: 'alice' });
  return { ids, all, ambiguous, ended: ended.dialogids };
}
`;

describe('dialog selectors', () => {
  const stage = useStage();

  before('put a scenario into the folder', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'asker.js'), ASKER);
  });

  /** Alice talks to bob, and to carol; each call with every selector that matches it alone. */
  async function twoCalls(phones?: readonly [Phone, Phone, Phone]) {
    const [alice, bob, carol] = phones ?? (await stage.phones('alice', 'bob', 'carol'));
    const rest = await stage.rest();
    const named = async (login: string, number: string, { callId }: PhoneCall): Promise<Named> => {
      const dialog = (await stage.dialogs()).find(({ callids }) => callids.includes(callId));
      const filter = JSON.stringify({ login });
      const [account] = (await rest.get('/rest/v1/domain/sipusers', { filter })).json<
        { id: string; user_id: string }[]
      >();
      if (dialog === undefined || account === undefined) throw new Error(`no call of ${login}`);
      return {
        dialogid: dialog.dialogid,
        inviteid: dialog.inviteid,
        callid: callId,
        uri: `<sip:${number}@demo.local>`,
        from: number,
        sipuserid: account.id,
        sipuserlogin: login,
        sipuserphonenumber: number,
        userid: account.user_id,
      };
    };
    const one = await stage.connect(alice, bob, '102');
    await one.outgoing.hold();
    const other = await stage.connect(alice, carol, '103');
    const first = await named('bob', '102', one.incoming);
    const second = await named('carol', '103', other.incoming);
    return { one, other, first, second, both: [first.dialogid, second.dialogid] };
  }

  /** The three ways in which a request can select a dialog without its id in the path. */
  async function asked(method: string, selectors: object, body: object = {}): Promise<RestAnswer[]> {
    const rest = await stage.rest();
    return [
      await rest.send(method, CALLS, { body: { ...body, ...selectors } }),
      await rest.send('POST', `${CALLS}!${method.toLowerCase()}`, { body: { ...body, ...selectors } }),
      await rest.send(method, CALLS, { body, query: { ...selectors } }),
    ];
  }

  it('only the one of highest priority counts, in body, query and !suffix', async () => {
    const { first, second } = await twoCalls();
    for (const [index, high] of PRIORITY.entries()) {
      for (const answer of await asked('LOOKUP', { [high]: first[high] })) {
        expect(answer.json(), `${high} ${answer.text}`).to.deep.equal([first.dialogid]);
      }
      for (const low of PRIORITY.slice(index + 1)) {
        const both = { [low]: second[low], [high]: first[high] };
        for (const answer of await asked('LOOKUP', both)) {
          expect(answer.json(), JSON.stringify(both)).to.deep.equal([first.dialogid]);
        }
        // The selector of highest priority decides alone, even without a match.
        for (const answer of await asked('LOOKUP', { [low]: second[low], [high]: 'nothing' })) {
          expectError(answer, 404, 1413);
        }
      }
    }
  });

  it('one is required, in the body or the query', async () => {
    const rest = await stage.rest();
    for (const options of [{}, { body: {} }, { body: { mode: 'number' } }, { query: { dry_run: 'false' } }]) {
      const answer = await rest.send('LOOKUP', CALLS, options);
      const { error_details: details } = expectError(answer, 400, 1400);
      expect(details, answer.text).to.have.property('reason');
      expect(details).to.have.property('field').that.is.oneOf(['body', 'dialogid']);
    }
  });

  it('that match several dialogs: LOOKUP lists all, other operations are refused with the ids and change nothing', async () => {
    const { one, other, both } = await twoCalls();
    const rest = await stage.rest();
    for (const selector of [
      { sipuserlogin: 'alice' },
      { from: '101' },
      { from: 'alice', mode: 'sipuser' },
      { uri: ALICE },
    ]) {
      for (const answer of await asked('LOOKUP', selector)) expect(answer.json()).to.deep.equal(both);
      const field = Object.keys(selector)[0];
      for (const [method, body] of [
        ['REFER', { by: ALICE, referto: '104' }],
        ['REFERREPLACES', { masterby: ALICE, slaveby: ALICE, slavedialogid: both[0] }],
        ['SWITCHCONF', {}],
        ['REFERCONF', { by: ALICE, referconfroomnum: '5' }],
        ['SEND_DTMF', { side: 'a', dtmf: '1' }],
        ['SETUP_BINDINGS', { command: 'set', label: 'x' }],
        ['STOP_HOLD_MELODY', { mode: 'once' }],
      ] as const) {
        // REFERREPLACES has a `mode` of its own.
        if (method === 'STOP_HOLD_MELODY' && 'mode' in selector) continue;
        for (const answer of await asked(method, selector, body)) {
          const error = expectError(answer, 409, 1402);
          expect(error.error_details, method).to.deep.include({ field, ids: both });
        }
      }
    }
    const slave = await rest.send('REFERREPLACES', `${CALLS}/${both[0]}`, {
      body: { masterby: ALICE, slaveby: ALICE, slavesipuserlogin: 'alice' },
    });
    expect(expectError(slave, 409, 1402).error_details).to.deep.include({ field: 'slavesipuserlogin', ids: both });
    await one.outgoing.unhold();
    await other.outgoing.hold();
    await expectTalk(one.outgoing, one.incoming);
    expect((await stage.dialogs()).map(({ dialogid }) => dialogid)).to.deep.equal(both);
  });

  it('name the slave of REFERREPLACES, with the same priorities', async () => {
    const { first, second, both } = await twoCalls();
    const rest = await stage.rest();
    for (const [index, high] of PRIORITY.entries()) {
      const low = PRIORITY[index + 1];
      const answer = await rest.send('REFERREPLACES', `${CALLS}/${first.dialogid}`, {
        body: {
          masterby: ALICE,
          slaveby: ALICE,
          [`slave${high}`]: second[high],
          ...(low === undefined ? {} : { [`slave${low}`]: first[low] }),
        },
        query: { dry_run: true },
      });
      const { dialogs } = answer.json<{ dialogs: { dialogid: string }[] }>();
      expect(answer.status, answer.text).to.equal(200);
      expect(
        dialogs.map(({ dialogid }) => dialogid),
        high,
      ).to.deep.equal(both);
    }
    const same = await rest.send('REFERREPLACES', `${CALLS}/${first.dialogid}`, {
      body: { masterby: ALICE, slaveby: ALICE, slavedialogid: first.dialogid },
    });
    expect(expectError(same, 422, 1405).error_details?.field).to.equal('slavedialogid');
  });

  it('each kind of slave selector joins the two calls: both other parties talk, and the initiator is released', async function () {
    this.timeout(40_000);
    const phones = await stage.phones('alice', 'bob', 'carol');
    const rest = await stage.rest();
    const slaves = PRIORITY.map((name) => (named: Named) => ({ [`slave${name}`]: named[name] }));
    for (const slave of [...slaves, ({ sipuserlogin }: Named) => ({ slavefrom: sipuserlogin, mode: 'sipuser' })]) {
      const { one, other, first, second, both } = await twoCalls(phones);
      const body = { masterby: ALICE, slaveby: ALICE, ...slave(second) };
      const answer = await rest.send('REFERREPLACES', `${CALLS}/${first.dialogid}`, { body });
      expect(answer.json(), `${JSON.stringify(body)} ${answer.text}`).to.include({
        masterdialogid: both[0],
        slavedialogid: both[1],
        result: 'ok',
        new_last_response: 'SIP/2.0 200 OK',
      });
      await Promise.all([one.outgoing.ended(), other.outgoing.ended()]);
      await expectTalk(one.incoming, other.incoming);
      await one.incoming.hangup();
      await other.incoming.ended();
    }
  });

  it('DELETE ends all matching dialogs', async () => {
    const { one, other, both } = await twoCalls();
    const answer = await (await stage.rest()).send('DELETE', CALLS, { query: { sipuserphonenumber: '101' } });
    expect(answer.json(), answer.text).to.deep.equal({ dialogid: both[0], dialogids: both });
    await Promise.all([one, other].flatMap(({ outgoing, incoming }) => [outgoing.ended(), incoming.ended()]));
  });

  it('work the same from a scenario', async () => {
    const { one, other, first, second, both } = await twoCalls();
    const rest = await stage.rest();
    const dave = await stage.phone('dave');
    const key = JSON.stringify({ first: first.callid, second: second.userid });
    const asking = rest.send('INVITEBYIVR', CALLS, { body: { to: '104', scriptcode: 'asker', key } });
    await (await dave.incoming()).answer();
    expect((await asking).json(), (await asking).text).to.include({ result: 'ok' });
    await Promise.all([one, other].flatMap(({ outgoing, incoming }) => [outgoing.ended(), incoming.ended()]));
    await eventually(async () => {
      const runs = (await rest.get('/rest/v1/api/runs')).json<{ scenario: string; outcome?: { value?: object } }[]>();
      const value = runs.find(({ scenario }) => scenario === 'asker')?.outcome?.value;
      expect(value).to.deep.equal({ ids: [first.dialogid], all: both, ambiguous: 'ambiguous', ended: both });
    });
  });
});
