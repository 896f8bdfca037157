import { expect } from 'chai';
import type { RestClient } from '../phones/rest-client.ts';
import { useStage } from '../support/stage.ts';

/** Sends a request; the answer's body as JSON. */
async function ask(rest: RestClient, method: string, path: string, body?: unknown) {
  const answer = await rest.send(method, path, body === undefined ? {} : { body });
  return { status: answer.status, body: answer.json() };
}

const ALICE = '<sip:alice@demo.local>';

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
