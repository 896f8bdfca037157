import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';

const REST = '/rest/v1';
const NAME = 'gone.test';

describe('a removed domain', () => {
  const stage = useStage({ ownNode: true });
  const phones: Phone[] = [];
  let root: RestClient;
  before(async () => {
    root = await stage.node.login('admin');
    await root.send('PATCH', `${REST}/iam/sessions/current`, { body: { domain: 'master' } });
  });
  afterEach(async () => {
    for (const each of phones.splice(0)) await each.stop();
  });
  after(() => root.close());

  /** Makes the domain with x (201), y (202) and an administrator; returns ids by collection, the domain last. */
  async function make(password: string): Promise<readonly (readonly [path: string, id: string])[]> {
    const made: [string, string][] = [];
    const create = async (path: string, body: object): Promise<string> => {
      const answer = await root.send('POST', `${REST}${path}`, { body });
      expect(answer.status, answer.text).to.equal(200);
      const { id } = answer.json<{ id: string }>();
      made.unshift([path, id]);
      return id;
    };
    const domain_id = await create('/domain/domains', { name: NAME });
    await create('/iam/users', { domain_id, login: 'boss', pwd: 'demo-boss', roles: ['admin'] });
    await create('/domain/sipusers', { domain_id, login: 'x', phonenumber: '201', pwd: password });
    await create('/domain/sipusers', { domain_id, login: 'y', phonenumber: '202', pwd: password });
    return made;
  }

  async function remove(made: readonly (readonly [path: string, id: string])[]): Promise<void> {
    for (const [path, id] of made) {
      const answer = await root.send('DELETE', `${REST}${path}/${id}`);
      expect(answer.status, `${path} ${answer.text}`).to.equal(204);
    }
  }

  async function phone(login: string, password: string): Promise<Phone> {
    const started = await Phone.start({ login, domain: NAME, password, registrar: stage.node.sip });
    phones.push(started);
    return started;
  }

  it('ends its registrations and calls: a new domain of the same name starts empty', async () => {
    const old = await make('first');
    const [x, y] = [await phone('x', 'first'), await phone('y', 'first')];
    for (const each of [x, y]) expect((await each.register()).status).to.equal(200);
    const { outgoing, incoming } = await stage.connect(x, y, '202');
    await remove(old);
    expect((await outgoing.ended()).by).to.equal('there');
    expect((await incoming.ended()).by).to.equal('there');
    expect((await x.register()).status).to.be.within(400, 499);
    const fresh = await make('second');
    const boss = await stage.node.login('boss', NAME);
    expect((await boss.get(CALLS)).json()).to.deep.equal([]);
    boss.close();
    const again = await phone('x', 'second');
    expect((await again.register()).status).to.equal(200);
    const call = await again.call('202');
    expect((await call.refused()).status).to.be.within(400, 499);
    expect((await x.register()).status).to.be.within(400, 499);
    await remove(fresh);
    await eventually(async () => expect((await stage.node.health()).counts['registrations'] ?? 0).to.equal(0));
  });
});
