import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';

const OWN = '/rest/v1/user/sip/calls';

type Planned = Readonly<Record<string, unknown>>;

describe('a dry run of an operation that starts a call', () => {
  const stage = useStage();

  async function calls(body: object, { login = 'admin', base = CALLS, method = 'POST' } = {}): Promise<Planned[]> {
    const answer = await (await stage.rest(login)).send(method, base, { body, query: { dry_run: true } });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.header('operation-id')).to.equal(undefined);
    return answer.json<{ calls: Planned[] }>().calls;
  }

  it('tells which phones of X and Y would ring, and that no phone is registered', async () => {
    const alice = await stage.phone('alice');
    const x = { party: 'X', number: '101', route: 'sipuser', domain: 'demo.local', target: 'alice' };
    const y = { party: 'Y', number: '102', route: 'sipuser', domain: 'demo.local', target: 'bob' };
    const atAlice = { phones: 1, contacts: [alice.contact] };
    const nobody = { phones: 0, contacts: [], reason: 'no phone is registered' };
    expect(await calls({ from: '101', to: '102' })).to.deep.equal([
      { ...x, ...atAlice },
      { ...y, ...nobody },
    ]);
    const [desk, mobile] = [await stage.phone('bob'), await stage.phone('bob')];
    const [, both] = await calls({ from: 'alice', mode: 'sipuser', to: "102'1" });
    expect(both).to.include({ ...y, phones: 2 });
    expect(both?.['contacts']).to.have.members([desk.contact, mobile.contact]);
    for (const phone of [alice, desk, mobile]) expect(phone.waitingCalls).to.equal(0);
  });

  it('names the route: featurecode, scenario, conference, provider, or none', async () => {
    const rest = await stage.rest();
    const made: string[] = [];
    const create = async (collection: string, body: object): Promise<void> => {
      const answer = await rest.send('POST', `/rest/v1/domain/${collection}`, { body });
      expect(answer.status, answer.text).to.equal(200);
      made.push(`/rest/v1/domain/${collection}/${answer.json<{ id: string }>().id}`);
    };
    await create('providers', {
      code: 'dry-carrier',
      host: '127.0.0.9',
      register: 'none',
      mapping: { inbound: [], outbound: [{ pattern: '0%', strip: 1, prepend: '+49' }], callerid: [] },
    });
    await create('providers', {
      code: 'dry-gateway',
      host: '127.0.0.8',
      register: 'inbound',
      login: 'gw',
      pwd: 'gw-secret',
    });
    await create('routes', { to_pattern: '0%', target: { type: 'provider', code: 'dry-carrier' } });
    await create('routes', { to_pattern: '8%', target: { type: 'provider', code: 'dry-gateway' } });
    const there = { domain: 'demo.local', phones: 0, contacts: [] };
    for (const [to, y] of [
      ['500', { ...there, route: 'scenario', target: 'menu' }],
      ['*55echo', { ...there, route: 'scenario', target: 'echo', featurecode: '*55' }],
      ['*7017', { ...there, route: 'conference', target: '17', featurecode: '*70' }],
      ['*70', { ...there, route: 'conference', featurecode: '*70' }],
      ['*80103', { ...there, route: 'sipuser', target: 'carol', featurecode: '*80', reason: 'no phone is registered' }],
      [
        '030123',
        { ...there, route: 'provider', target: 'dry-carrier', phones: 1, contacts: ['sip:+4930123@127.0.0.9:5060'] },
      ],
      ['8123', { ...there, route: 'provider', target: 'dry-gateway', reason: 'its gateway is not registered' }],
      ['999', { ...there, route: 'none', reason: '404 Not Found' }],
    ] as const) {
      const [, planned] = await calls({ from: '101', to });
      expect(planned, to).to.deep.equal({ party: 'Y', number: to, ...y });
    }
    const [login] = await calls({ from: 'nobody', mode: 'sipuser', to: '102' });
    expect(login).to.include({ route: 'none', reason: 'no sipuser has this login' });
    const [intercom] = await calls({ from: '101', to: '102', use_intercom: true });
    expect(intercom).to.include({ route: 'sipuser', target: 'alice', featurecode: '*80' });
    for (const path of made.toReversed()) expect((await rest.send('DELETE', path)).status).to.equal(204);
  });

  it('of INVITEBYIVR lists the phones it would call', async () => {
    const alice = await stage.phone('alice');
    const planned = await calls({ to: '101', scriptcode: 'echo' }, { method: 'INVITEBYIVR' });
    expect(planned).to.have.length(1);
    expect(planned[0]).to.deep.include({ party: 'X', target: 'alice', contacts: [alice.contact] });
    expect(alice.waitingCalls).to.equal(0);
  });

  it("on own calls hides the addresses of other users' phones", async () => {
    const [alice] = await stage.phones('alice', 'bob');
    const [x, y] = await calls({ from: '101', to: '102' }, { login: 'alice', base: OWN });
    expect(x).to.deep.include({ phones: 1, contacts: [alice.contact] });
    expect(y).to.include({ party: 'Y', target: 'bob', phones: 1 }).and.not.have.property('contacts');
  });
});
