import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';

describe('a repeated request with an Idempotency-Key', () => {
  const stage = useStage();

  async function call(key: string, body: object = {}) {
    const headers = { 'idempotency-key': key };
    const answer = await (await stage.rest()).send('POST', CALLS, {
      body: { from: '101', to: '102', response_mode: 4, ...body },
      headers,
    });
    return {
      status: answer.status,
      body: answer.json<Record<string, unknown>>(),
      replayed: answer.header('idempotency-replayed'),
      operation: answer.header('operation-id'),
    };
  }

  it('is answered what the first one was, and rings nobody', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const asked = call('one');
    const twice = call('one');
    const [x, first, second] = [await alice.incoming(), asked, twice];
    await x.answer();
    const y = await bob.incoming();
    await y.answer();
    const [original, concurrent] = await Promise.all([first, second]);
    expect(original.body).to.include({ result: 'ok' });
    expect([original.replayed, concurrent.replayed]).to.have.members(['true', undefined]);
    expect(concurrent.body).to.deep.equal(original.body);
    await x.hangup();
    await y.ended();
    const later = await call('one');
    expect([later.replayed, later.body, later.operation]).to.deep.equal(['true', original.body, original.operation]);
    expect([alice.waitingCalls, bob.waitingCalls]).to.deep.equal([0, 0]);
    expect(await stage.dialogs()).to.deep.equal([]);
  });

  it('is refused for another request, and for a key that cannot be one', async () => {
    const alice = await stage.phone('alice');
    const asked = call('two');
    (await alice.incoming()).reject(486);
    expect((await asked).body).to.include({ result: 'rejected' });
    const other = await call('two', { to: '103' });
    expect([other.status, other.body['error_code']]).to.deep.equal([422, 1405]);
    expect((await call('x'.repeat(256))).status).to.equal(400);
    expect(alice.waitingCalls).to.equal(0);
  });

  it('may be sent again after it was refused', async () => {
    expect((await call('three', { response_mode: 9 })).status).to.equal(400);
    const alice = await stage.phone('alice');
    const asked = call('three');
    (await alice.incoming()).reject(486);
    const { status, replayed } = await asked;
    expect([status, replayed]).to.deep.equal([200, undefined]);
  });
});
