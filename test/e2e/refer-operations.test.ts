import { expect } from 'chai';
import type { RestClient } from '../phones/rest-client.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

/** Sends a request; the answer's body as JSON. */
async function ask(rest: RestClient, method: string, path: string, body?: unknown) {
  const answer = await rest.send(method, path, body === undefined ? {} : { body });
  return { status: answer.status, body: answer.json() };
}

const ALICE = '<sip:alice@demo.local>';

describe('REFER /uc/calls/<id>', () => {
  const stage = useStage();

  for (const [by, mode] of [
    ['uri', 3],
    ['Call-ID', 4],
    ['uri', 5],
  ] as const) {
    it(`by ${by} in mode ${mode} moves the opponent to the target and releases the initiator`, async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const dialog = await stage.dialog();
      const rest = await stage.rest();
      const asked = ask(rest, 'REFER', `${CALLS}/${dialog.dialogid}`, {
        by: by === 'uri' ? ALICE : dialog.acallid,
        referto: '103',
        response_mode: mode,
      });
      await outgoing.ended();
      const arriving = await carol.incoming();
      arriving.ring();
      await incoming.hearsSound({ withinMs: 2000 });
      if (mode > 3) await arriving.answer();
      const { status, body } = await asked;
      expect(status).to.equal(200);
      expect(body).to.include({ dialogid: dialog.dialogid, result: 'ok' });
      expect(body).to.have.keys([
        'dialogid',
        'result',
        'ivrcallid',
        'new_acallid',
        'new_last_response',
        'new_dialogid',
      ]);
      if (mode === 3) await arriving.answer();
      await expectTalk(incoming, arriving);
      const after = await stage.dialog();
      const { new_dialogid: newId, new_acallid: newCall } = body as Record<string, string>;
      expect([after.dialogid, after.acallid]).to.deep.equal([newId, newCall]);
    });
  }

  it('gives the opponent back to the initiator when the target refuses', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const dialog = await stage.dialog();
    const rest = await stage.rest();
    const asked = ask(rest, 'REFER', `${CALLS}/${dialog.dialogid}`, { by: ALICE, referto: '103', response_mode: 4 });
    await outgoing.ended();
    (await carol.incoming()).reject(486);
    const { body } = await asked;
    expect(body).to.include({ result: 'rejected', new_last_response: 'SIP/2.0 486 Busy Here' });
    expect(body).not.to.have.property('new_dialogid');
    const back = await alice.incoming();
    await back.answer();
    await expectTalk(incoming, back);
  });

  it('carries the labels of the call along', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const rest = await stage.rest();
    const labels = async (command: object) =>
      (await ask(rest, 'SETUP_BINDINGS', `${CALLS}/${(await stage.dialog()).dialogid}`, command)).body;
    await labels({ command: 'add', label: ['one', 'two'] });
    const { dialogid } = await stage.dialog();
    const asked = ask(rest, 'REFER', `${CALLS}/${dialogid}`, { by: ALICE, referto: '103', binding: 'three' });
    await outgoing.ended();
    const arriving = await carol.incoming();
    await arriving.answer();
    await asked;
    await expectTalk(incoming, arriving);
    expect(await labels({ command: 'get' })).to.deep.include({ labels: ['one', 'two', 'three'] });
  });
});

describe('REFERREPLACES /uc/calls/<id>', () => {
  const stage = useStage();

  it('joins the opponents of two calls of one phone', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const first = await stage.connect(alice, bob, '102');
    await first.outgoing.hold();
    const second = await stage.connect(alice, carol, '103');
    const rest = await stage.rest();
    const ids = (await ask(rest, 'LOOKUP', CALLS, { from: '101' })).body as string[];
    const { status, body } = await ask(rest, 'REFERREPLACES', `${CALLS}/${ids[0]}`, {
      masterby: ALICE,
      slavedialogid: ids[1],
      slaveby: ALICE,
    });
    expect(status).to.equal(200);
    expect(body).to.include({ masterdialogid: ids[0], slavedialogid: ids[1], result: 'ok' });
    await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
    await expectTalk(first.incoming, second.incoming);
    expect((await stage.dialog()).dialogid).to.equal((body as Record<string, string>).new_dialogid);
  });
});

describe('/user/sip/calls', () => {
  const stage = useStage();
  const OWN = '/rest/v1/user/sip/calls';

  it('shows and touches only calls in which the user takes part', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const [mine, other] = [await stage.rest('alice'), await stage.rest('carol')];
    expect((await ask(mine, 'GET', OWN)).body).to.have.length(1);
    expect((await ask(other, 'GET', OWN)).body).to.deep.equal([]);
    expect((await ask(other, 'GET', `${OWN}/${dialogid}`)).status).to.equal(404);
    expect((await ask(other, 'REFER', `${OWN}/${dialogid}`, { by: ALICE, referto: '103' })).status).to.equal(404);
    expect((await ask(other, 'DELETE', `${OWN}/${dialogid}`)).status).to.equal(404);
    expect((await ask(mine, 'DELETE', `${OWN}/${dialogid}`)).status).to.equal(200);
  });

  it('starts calls from accounts of the user only', async () => {
    const [alice] = await stage.phones('alice');
    const mine = await stage.rest('alice');
    for (const body of [
      { from: '102', to: '101' },
      { from: 'bob', mode: 'sipuser', to: '101' },
    ]) {
      const { status, body: error } = await ask(mine, 'POST', OWN, body);
      expect([status, (error as { error_code: number }).error_code]).to.deep.equal([403, 1401]);
    }
    const asked = ask(mine, 'POST', OWN, { from: '101', to: '104', response_mode: 2 });
    (await alice.incoming()).reject(486);
    expect((await asked).body).to.include({ result: 'rejected' });
  });
});
