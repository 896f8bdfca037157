import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

/** restart.test.ts tests the selector sipuserid, as it can read the store. */
describe('LOOKUP of dialogs', () => {
  const stage = useStage();

  async function lookup(body: unknown): Promise<string[]> {
    const answer = await stage.operate('LOOKUP', body);
    expect(answer.status, `${JSON.stringify(body)}: ${answer.text}`).to.equal(200);
    return answer.json<string[]>();
  }

  it('finds a dialog by each selector', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid, inviteid } = await stage.dialog();
    const user = (await (await stage.rest('bob')).get('/rest/v1/iam/sessions/current')).json<{ user_id: string }>();
    const selectors: Record<string, string>[] = [
      { dialogid },
      { inviteid },
      { callid: outgoing.callId },
      { callid: incoming.callId },
      { uri: '<sip:alice@demo.local>' },
      { uri: '<sip:102@demo.local>' },
      { from: '101' },
      { from: '102' },
      { from: '101', mode: 'number' },
      { from: 'alice', mode: 'sipuser' },
      { from: 'bob', mode: 'sipuser' },
      { sipuserlogin: 'alice' },
      { sipuserlogin: 'bob' },
      { sipuserphonenumber: '101' },
      { sipuserphonenumber: '102' },
      { userid: user.user_id },
    ];
    for (const selector of selectors) {
      expect(await lookup(selector), JSON.stringify(selector)).to.deep.equal([dialogid]);
    }
  });

  it('lists with dry_run the matching dialogs and their legs', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const rest = await stage.rest();
    const dry = await rest.send('LOOKUP', CALLS, { body: { sipuserlogin: 'bob' }, query: { dry_run: true } });
    expect(dry.json()).to.deep.equal({
      dry_run: true,
      operation: 'lookup',
      dialogs: [
        {
          dialogid,
          legs: [
            { callid: outgoing.callId, side: 'a', uris: ['<sip:alice@demo.local>', '<sip:101@demo.local>'] },
            { callid: incoming.callId, side: 'b', uris: ['<sip:bob@demo.local>', '<sip:102@demo.local>'] },
          ],
        },
      ],
    });
    const none = await rest.send('LOOKUP', CALLS, { body: { sipuserlogin: 'carol' }, query: { dry_run: true } });
    expectError(none, 404, 1413);
  });

  it('finds a ringing call by the Call-Id of every fork', async () => {
    const alice = await stage.phone('alice');
    const desk = await stage.phone('bob');
    const mobile = await stage.phone('bob');
    const call = await alice.call('102');
    const forks = await Promise.all([desk.incoming(), mobile.incoming()]);
    for (const fork of forks) fork.ring();
    await call.ringing();
    const { dialogid } = await stage.dialog();
    for (const fork of forks) expect(await lookup({ callid: fork.callId })).to.deep.equal([dialogid]);
  });

  it('finds every dialog of a party with several', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    await stage.connect(alice, bob, '102');
    await stage.connect(carol, bob, '102');
    const all = (await stage.dialogs()).map(({ dialogid }) => dialogid);
    expect(await lookup({ sipuserlogin: 'bob' }))
      .to.have.members(all)
      .and.to.have.length(2);
    expect(await lookup({ sipuserlogin: 'carol' })).to.have.length(1);
  });

  it('uses only the selector of highest priority', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    expect(await lookup({ userid: 'nobody', callid: outgoing.callId })).to.deep.equal([dialogid]);
    expectError(await stage.operate('LOOKUP', { dialogid: 'other', callid: outgoing.callId }), 404, 1413);
  });

  it('does not find a login as number, nor a number as login', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await stage.connect(alice, bob, '102');
    expectError(await stage.operate('LOOKUP', { sipuserlogin: '101' }), 404, 1413);
    expectError(await stage.operate('LOOKUP', { sipuserphonenumber: 'alice' }), 404, 1413);
    expectError(await stage.operate('LOOKUP', { from: '101', mode: 'sipuser' }), 404, 1413);
  });

  it('finds nothing after the call', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    await outgoing.hangup();
    await incoming.ended();
    await stage.expectNoDialog();
    for (const selector of [{ dialogid }, { callid: outgoing.callId }, { sipuserlogin: 'alice' }, { from: '101' }]) {
      const error = expectError(await stage.operate('LOOKUP', selector), 404, 1413);
      expect(error.error_message).to.equal('Dialog not found');
    }
  });

  it('also works as !lookup', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const answer = await (await stage.rest()).send('POST', `${CALLS}!lookup`, { body: { sipuserlogin: 'alice' } });
    expect(answer.json()).to.deep.equal([dialogid]);
  });

  it('refuses a request without a selector', async () => {
    expectError(await stage.operate('LOOKUP', {}), 400, 1400);
  });
});
