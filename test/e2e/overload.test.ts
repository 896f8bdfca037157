import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { CALLS } from '../support/stage.ts';
import { expectError } from './expectations.ts';

describe('call limits of a node', () => {
  let node: TestNode;
  const phones: Phone[] = [];
  before('start it', async function () {
    this.timeout(90_000);
    node = await TestNode.start({ env: { RINGMASTER_MAX_CALLS: '1' } });
    for (const login of ['alice', 'bob', 'carol']) {
      const phone = await Phone.start({ login, domain: 'demo.local', password: `demo-${login}`, registrar: node.sip });
      await phone.register();
      phones.push(phone);
    }
  });
  after('stop it', async () => {
    for (const phone of phones) await phone.stop();
    await node.remove();
  });

  it('calls over the limit get 503 with Retry-After, and the metrics count them', async () => {
    const [alice, bob, carol] = phones as [Phone, Phone, Phone];
    const rest = await node.login();
    const call = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await call.answered();

    expect(await (await carol.call('101')).refused()).to.include({ status: 503 });
    expect(carol.trace().join('\n')).to.contain('503 Service Unavailable');
    const refused = await rest.send('POST', CALLS, { body: { from: '103', to: '101' } });
    expectError(refused, 503, 1503);
    expect(refused.header('retry-after')).to.equal('5');
    expect([alice.waitingCalls, carol.waitingCalls]).to.deep.equal([0, 0]);

    // A transfer of the existing call goes on.
    const [dialog] = (await rest.get(CALLS)).json<{ dialogid: string; acallid: string }[]>();
    const asked = rest.send('REFER', `${CALLS}/${dialog?.dialogid}`, {
      body: { by: dialog?.acallid, referto: '103', response_mode: 4 },
    });
    const arriving = await carol.incoming();
    await arriving.answer();
    expect((await asked).json()).to.include({ result: 'ok' });

    for (const from of ['103', 'nobody']) await rest.send('LOOKUP', CALLS, { body: { from } });
    const figures = (await rest.get('/metrics')).text;
    expect(figures).to.match(/^ringmaster_alive\{kind="dialogs"\} 1$/m);
    expect(figures).to.match(/^ringmaster_alive\{kind="registrations"\} 3$/m);
    expect(figures).to.match(/^ringmaster_calls_refused_total\{by="sip"\} 1$/m);
    expect(figures).to.match(/^ringmaster_calls_refused_total\{by="rest"\} 1$/m);
    // Out of its call with the scenario, and from there to carol.
    expect(figures).to.match(/^ringmaster_call_events_total\{event="call_transfer"\} 2$/m);
    expect(figures).to.match(/^ringmaster_operations_total\{operation="refer",result="ok"\} 1$/m);
    expect(figures).to.match(
      /^ringmaster_operation_milestone_seconds_bucket\{le="120",operation="refer",milestone="T initiated"\} 1$/m,
    );
    expect(figures).to.match(/^ringmaster_operation_answer_seconds_bucket\{le="120",operation="refer"\} 1$/m);
    expect(figures).to.match(/^ringmaster_operations_total\{operation="lookup",result="ok"\} 1$/m);
    expect(figures).to.match(/^ringmaster_operations_total\{operation="lookup",result="dialog_not_found"\} 1$/m);
    expect(figures).to.match(/^ringmaster_operation_answer_seconds_count\{operation="lookup"\} 1$/m);
    expect(figures).to.match(/^process_resident_memory_bytes \d/m);

    await incoming.hangup();
    await arriving.ended();
    await eventually(async () => expect((await rest.get(CALLS)).json()).to.deep.equal([]));
    const again = await carol.call('101');
    (await alice.incoming()).reject(486);
    expect(await again.refused()).to.include({ status: 486 });
  });
});
