import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError, expectTalk } from './expectations.ts';

const ALICE = '<sip:alice@demo.local>';

/** REFERREPLACES with scenarios and conferences, and the record of a returned party. */
describe('REFERREPLACES with conferences and scenarios', () => {
  const stage = useStage();

  async function dialogTo(localuri: string): Promise<string> {
    const found = (await stage.dialogs()).find((each) => each.localuri === localuri);
    if (found === undefined) throw new Error(`no call to ${localuri}`);
    return found.dialogid;
  }

  for (const conferenceIs of ['master', 'slave'] as const) {
    it(`moves a party into the conference of the ${conferenceIs} call`, async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const others = await carol.call('*7081');
      await others.answered();
      const entered = await alice.call('*7081');
      await entered.answered();
      await entered.hold();
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const room = (await stage.dialogs()).find(({ acallid }) => acallid === entered.callId)?.dialogid ?? '';
      const call = await dialogTo('<sip:102@demo.local>');
      const [master, slavedialogid] = conferenceIs === 'master' ? [room, call] : [call, room];
      const body = { masterby: ALICE, slavedialogid, slaveby: ALICE };
      const answer = await (await stage.rest()).send('REFERREPLACES', `${CALLS}/${master}`, { body });
      expect(answer.json(), answer.text).to.deep.include({
        masterdialogid: master,
        slavedialogid,
        result: 'ok',
        new_acallid: incoming.callId,
      });
      await Promise.all([outgoing.ended(), entered.ended()]);
      await expectTalk(incoming, others);
    });
  }

  it('moves a party into a full conference, in the place of the leaving participant', async () => {
    const code = { prefix: '*7601', type: 'conference', opts: { max_members: 2 } };
    const rest = await stage.rest();
    expect((await rest.send('POST', '/rest/v1/domain/featurecodes', { body: code })).status).to.equal(200);
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const others = await carol.call('*76011');
    await others.answered();
    const entered = await alice.call('*76011');
    await entered.answered();
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const slave = (await stage.dialogs()).find(({ acallid }) => acallid === entered.callId)?.dialogid;
    const body = { masterby: ALICE, slavedialogid: slave, slaveby: ALICE };
    const answer = await rest.send('REFERREPLACES', `${CALLS}/${await dialogTo('<sip:102@demo.local>')}`, { body });
    expect(answer.json(), answer.text).to.include({ result: 'ok' });
    await Promise.all([outgoing.ended(), entered.ended()]);
    await expectTalk(incoming, others);
  });

  for (const scenarioIs of ['master', 'slave'] as const) {
    it(`is refused when the ${scenarioIs} call has a scenario, and changes nothing`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const echo = await alice.call('501');
      await echo.answered();
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const [ivr, call] = [await dialogTo('<sip:501@demo.local>'), await dialogTo('<sip:102@demo.local>')];
      const [master, slavedialogid] = scenarioIs === 'master' ? [ivr, call] : [call, ivr];
      const body = { masterby: ALICE, slavedialogid, slaveby: ALICE };
      const answer = await (await stage.rest()).send('REFERREPLACES', `${CALLS}/${master}`, { body });
      expectError(answer, 422, 1405);
      expect(answer.json()).to.have.nested.property('error_details.field', `${scenarioIs}by`);
      await expectTalk(outgoing, incoming);
      expect(echo.established).to.equal(true);
    });
  }

  it('moves phones only: a scenario or a conference keeps its place', async () => {
    const alice = await stage.phone('alice');
    const rest = await stage.rest();
    for (const number of ['501', '*7082']) {
      const call = await alice.call(number);
      await call.answered();
      const { dialogid } = await stage.dialog();
      const body = { by: ALICE, referto: '102' };
      for (const dry_run of [true, false]) {
        const answer = await rest.send('REFER', `${CALLS}/${dialogid}`, { body, query: { dry_run } });
        expectError(answer, 422, 1405);
        expect(answer.json()).to.have.nested.property('error_details.field', 'by');
      }
      expect(call.established).to.equal(true);
      await call.hangup();
      await stage.expectNoDialog();
    }
  });

  it('records how and in which dialog a returned party came back', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const rest = await stage.rest();
    await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const body = { by: ALICE, referto: '103', response_mode: 4 };
    const referred = rest.send('REFER', `${CALLS}/${dialogid}`, { body });
    (await carol.incoming()).reject(486);
    const id = (await referred).header('operation-id') ?? '';
    const record = await eventually(async () => {
      const read = (await rest.get(`/rest/v1/uc/operations/${id}`)).json<{
        outcome?: string;
        milestones: { milestone: string; dialogid?: string; last_response?: string }[];
      }>();
      expect(read.outcome).to.equal('completed');
      return read;
    });
    expect(record.milestones.map(({ milestone }) => milestone)).to.deep.equal([
      'F initiated',
      'F final',
      'T initiated',
      'T final',
      'back initiated',
      'back final',
      'finished',
    ]);
    const returned = record.milestones.find(({ milestone }) => milestone === 'back final');
    expect((await stage.dialog()).dialogid).to.equal(dialogid);
    expect(returned).to.include({ last_response: 'SIP/2.0 200 OK', dialogid });
    expect(record.milestones[0]).to.not.have.property('dialogid');
  });
});
