import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { Phone } from '../phones/phone.ts';
import { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectTalk } from './expectations.ts';

const REST = '/rest/v1';
const OWN = `${REST}/user/sip/calls`;
const CONFERENCES = `${REST}/uc/conferences`;

/** As the directory spells it. */
const NAME = 'Shop.Example';

describe('the name of a domain in another spelling', () => {
  const folder = temporaryFolder();
  const stage = useStage({
    env: async () => {
      const secrets = join(folder, 'secrets.json');
      await writeFile(secrets, JSON.stringify({ 'SHOP.example': { crm: 'Zb7-s3cret' } }));
      return { RINGMASTER_SECRETS_FILE: secrets };
    },
  });
  const phones: Phone[] = [];
  const clients: RestClient[] = [];
  let boss: RestClient;

  async function login(domain: string, user: string): Promise<RestClient> {
    const client = await RestClient.login(stage.node.base, { domain, login: user, pwd: `demo-${user}` });
    clients.push(client);
    return client;
  }

  before('make the domain, its phones, a route to it and a recording rule', async () => {
    const root = await stage.node.login('admin');
    clients.push(root);
    await root.send('PATCH', `${REST}/iam/sessions/current`, { body: { domain: 'MASTER' } });
    const create = async (path: string, body: object): Promise<string> => {
      const answer = await root.send('POST', `${REST}${path}`, { body });
      expect(answer.status, answer.text).to.equal(200);
      return answer.json<{ id: string }>().id;
    };
    const domain_id = await create('/domain/domains', { name: NAME });
    await create('/iam/users', { domain_id, login: 'boss', pwd: 'demo-boss', roles: ['admin'] });
    for (const [user, phonenumber] of [
      ['ann', '101'],
      ['ben', '102'],
    ] as const) {
      const user_id = await create('/iam/users', { domain_id, login: user, pwd: `demo-${user}` });
      await create('/domain/sipusers', { domain_id, login: user, phonenumber, pwd: `demo-${user}`, user_id });
    }
    await create('/domain/featurecodes', { domain_id, prefix: '*70', type: 'conference' });
    await create('/domain/recordingrules', { domain_id, record: true, permit_pause: true });
    const [home] = (await root.get(`${REST}/domain/domains`, { filter: '{"name":"demo.local"}' })).json<
      { id: string }[]
    >();
    const target = { type: 'domain', domain: 'SHOP.EXAMPLE', strip: 1 };
    await create('/domain/routes', { domain_id: home?.id, to_pattern: '6%', target });
    boss = await login('SHOP.example', 'boss');
  });
  afterEach(async () => {
    const violations: string[] = [];
    for (const each of phones.splice(0)) {
      await each.stop();
      violations.push(...each.violations);
    }
    expect(violations).to.deep.equal([]);
  });
  after(() => {
    for (const client of clients) client.close();
  });

  /** A registered phone whose user wrote the domain like this. */
  async function phone(user: 'ann' | 'ben', domain: string): Promise<Phone> {
    const started = await Phone.start({ login: user, domain, password: `demo-${user}`, registrar: stage.node.sip });
    phones.push(started);
    expect((await started.register()).status).to.equal(200);
    return started;
  }

  async function events(rest: RestClient): Promise<readonly string[]> {
    const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${rest.token}` },
    });
    after(() => socket.close());
    const told: string[] = [];
    const subscribed = Promise.withResolvers<void>();
    socket.on('message', (text: Buffer) => {
      const [method, body] = JSON.parse(text.toString()) as [string, { readonly type: string }];
      if (method === 'subscribe_result') subscribed.resolve();
      if (method === 'event') told.push(body.type);
    });
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(
      JSON.stringify(['subscribe', { qid: '1', id: 's1', events: ['callevents', 'confevents'], expires: 60 }]),
    );
    await subscribed.promise;
    return told;
  }

  it('is a login to the domain, which is shown as the directory spells it', async () => {
    const session = (await boss.get(`${REST}/iam/sessions/current`)).json<{ domain: string }>();
    expect(session.domain).to.equal(NAME);
    const refused = await new RestClient(stage.node.base).send('POST', `${REST}/iam/sessions`, {
      body: { domain: 'shop.example.', login: 'boss', pwd: 'demo-boss', session_type: 'token' },
    });
    expect(refused.status).to.equal(401);
  });

  it('registers phones, and their calls are found, told, paused and ended in the domain', async () => {
    const told = await events(boss);
    const [ann, ben] = [await phone('ann', 'shop.EXAMPLE'), await phone('ben', 'SHOP.EXAMPLE')];
    const { outgoing, incoming } = await stage.connect(ann, ben, 'sip:102@Shop.example');
    await expectTalk(outgoing, incoming);
    const [{ dialogid, uris }, ...others] = (await boss.get(CALLS)).json<
      [{ dialogid: string; uris: readonly string[] }]
    >();
    expect(others).to.deep.equal([]);
    expect(uris).to.include(`<sip:101@${NAME}>`);
    for (const selector of [
      { from: '101' },
      { from: 'ben' },
      { from: 'ann', mode: 'sipuser' },
      { sipuserlogin: 'ben' },
      { sipuserphonenumber: '102' },
      { uri: '<sip:ann@SHOP.EXAMPLE>' },
      { uri: 'sip:102@shop.example' },
    ]) {
      const found = await boss.send('LOOKUP', CALLS, { body: selector });
      expect(found.json(), JSON.stringify(selector)).to.deep.equal([dialogid]);
    }
    const own = await login('shop.example', 'ann');
    expect((await own.get(OWN)).json<{ dialogid: string }[]>().map((each) => each.dialogid)).to.deep.equal([dialogid]);
    for (const command of ['pause', 'resume']) {
      const answer = await boss.send('SETUP_RECORD', `${CALLS}/${dialogid}`, { body: { command } });
      expect(answer.status, answer.text).to.equal(200);
    }
    expect((await boss.send('DELETE', `${CALLS}/${dialogid}`)).status).to.equal(200);
    await incoming.ended();
    await eventually(async () => expect(told).to.include.members(['call_init', 'call_answered', 'record_saved']));
    const [recording] = (await boss.get(`${REST}/domain/recordings`)).json<{ domain: string }[]>();
    expect(recording?.domain).to.equal('shop.example');
  });

  it('calls by REST as an account of the own user, and as no other', async () => {
    const [ann, ben] = [await phone('ann', 'shop.EXAMPLE'), await phone('ben', NAME)];
    const own = await login('SHOP.EXAMPLE', 'ann');
    expect((await own.send('POST', OWN, { body: { from: '102', to: '101' } })).status).to.equal(403);
    const asked = own.send('POST', OWN, { body: { from: '101', to: '102', response_mode: 4 } });
    const x = await ann.incoming();
    await x.answer();
    const y = await ben.incoming();
    await y.answer();
    expect((await asked).json()).to.include({ result: 'ok' });
    await x.hangup();
    await y.ended();
    expect((await own.get(`${REST}/user/sip/operations`)).json<object[]>()).to.have.length(1);
  });

  it('is the same room of a conference', async () => {
    const told = await events(boss);
    const [ann, ben] = [await phone('ann', 'shop.EXAMPLE'), await phone('ben', 'SHOP.EXAMPLE')];
    const [one, other] = [await ann.call('*707701'), await ben.call('sip:*707701@shop.example')];
    await one.answered();
    await other.answered();
    await expectTalk(one, other);
    const [{ confid }, ...more] = (await boss.get(CONFERENCES)).json<[{ confid: string }]>();
    expect(more).to.deep.equal([]);
    for (const selector of [{ confroomnum: '7701' }, { confuri: 'sip:*707701@SHOP.EXAMPLE' }]) {
      const found = await boss.send('LOOKUP', CONFERENCES, { body: selector });
      expect(found.json(), JSON.stringify(selector)).to.deep.equal([confid]);
    }
    await one.hangup();
    await other.hangup();
    await eventually(async () => expect(told).to.include.members(['conf_start', 'conf_join', 'conf_end']));
  });

  it('is the target of a route', async () => {
    const ben = await phone('ben', 'shop.example');
    const alice = await stage.phone('alice');
    const { outgoing, incoming } = await stage.connect(alice, ben, '6102');
    expect((await boss.get(CALLS)).json()).to.have.length(1);
    await outgoing.hangup();
    await incoming.ended();
  });

  it('names the secrets of its scenarios, and its runs are found', async () => {
    const source = 'export default async function () { return typeof secrets.crm; }';
    const made = await boss.send('POST', `${REST}/domain/svcscripts`, {
      body: { code: 'probe', scriptdata: { format: 'js', source } },
    });
    expect(made.status, made.text).to.equal(200);
    const answer = await boss.send('POST', `${REST}/api/hooks/probe`, { body: {} });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.include('"string"');
    const runs = (await boss.get(`${REST}/api/runs`)).json<{ domain: string }[]>();
    expect(runs.map(({ domain }) => domain)).to.deep.equal([NAME]);
  });
});
