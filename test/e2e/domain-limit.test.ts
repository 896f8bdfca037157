import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const DOMAINS = '/rest/v1/domain/domains';
const PROVIDERS = '/rest/v1/domain/providers';
/** One calls by itself, the other for its caller. */
const SCENARIOS = {
  e2e_alone: `
id: e2e_alone
starts: { hook: true }
start: ring
blocks:
  ring:
    call: { to: "103", caller_id: "100" }
    exits: { answered: there, busy: busy, refused: refused }
  there: { return: answered }
  busy: { return: busy }
  refused: { return: refused }
`,
  e2e_for_caller: `
id: e2e_for_caller
start: ring
blocks:
  ring:
    call: { to: "103" }
    leg: other
    exits: { answered: end, busy: end, refused: end }
`,
};

describe('a domain with a limit of calls', () => {
  const stage = useStage();
  let id = '';

  const limitTo = async (calls: number | null) => {
    const admin = await stage.rest();
    return admin.send('PATCH', `${DOMAINS}/${id}`, { body: { lic: { max_calls: calls } } });
  };

  before(async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${name}.yaml`), text);
    const domains = (await (await stage.rest()).get(DOMAINS)).json<{ id: string; name: string }[]>();
    id = domains.find(({ name }) => name === 'demo.local')?.id ?? expect.fail();
  });
  beforeEach(async () => expect((await limitTo(1)).status).to.equal(200));
  afterEach(async () => expect((await limitTo(null)).status).to.equal(200));

  it('refuses calls over it with 503 and Retry-After: of phones, of providers, and by REST', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const admin = await stage.rest();
    const outside = await Phone.start({ login: '0030123456', domain: 'demo.local', registrar: stage.node.sip });
    const { host, port } = parseUri(outside.contact);
    const provider = await admin.send('POST', PROVIDERS, { body: { code: 'operator', host, port } });
    try {
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      expect(await (await carol.call('101')).refused()).to.include({ status: 503 });
      expect(await (await outside.call('sip:103@demo.local')).refused()).to.include({ status: 503 });
      const refused = await admin.send('POST', CALLS, { body: { from: '103', to: '101' } });
      expectError(refused, 503, 1503);
      expect(refused.text).to.include('the domain is at its limit of 1 calls');
      expect(refused.header('retry-after')).to.equal('10');
      expect([alice.waitingCalls, carol.waitingCalls]).to.deep.equal([0, 0]);
      const history = await admin.get(
        '/rest/v1/uc/history?mask=sip_status,caller_number&filter={"caller_number":"103"}',
      );
      expect(history.json()).to.deep.include({ sip_status: 503, caller_number: '103' });

      await outgoing.hold();
      await outgoing.unhold();
      await outgoing.hangup();
      await incoming.ended();
      await eventually(async () => expect((await admin.get(CALLS)).json()).to.deep.equal([]));
      const again = await carol.call('101');
      (await alice.incoming()).reject(486);
      expect(await again.refused()).to.include({ status: 486 });
    } finally {
      await admin.send('DELETE', `${PROVIDERS}/${provider.json<{ id: string }>().id}`);
      await outside.stop();
    }
  });

  it('has any number of calls with 0, and keeps its limit when another one is wrong', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    expectError(await limitTo(-1), 400, 1400);
    const { outgoing } = await stage.connect(alice, bob, '102');
    expect(await (await carol.call('101')).refused()).to.include({ status: 503 });
    await limitTo(0);
    const second = await carol.call('101');
    (await alice.incoming()).reject(486);
    expect(await second.refused()).to.include({ status: 486 });
    await outgoing.hangup();
  });

  it('refuses the call that a scenario makes by itself, and not one for a caller', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const admin = await stage.rest();
    const hook = () => admin.send('POST', '/rest/v1/api/hooks/e2e_alone', { body: {} });
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    // The node has read the scenario then.
    await eventually(async () => expect((await hook()).json()).to.equal('refused'));
    await outgoing.hangup();
    await incoming.ended();
    await eventually(async () => expect((await admin.get(CALLS)).json()).to.deep.equal([]));
    const alone = hook();
    (await carol.incoming()).reject(486);
    expect((await alone).json()).to.equal('busy');
    const call = await alice.call('*55e2e_for_caller');
    (await carol.incoming()).reject(486);
    expect(await call.refused()).to.include({ status: 486 });
  });
});
