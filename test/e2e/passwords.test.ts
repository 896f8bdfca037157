import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { header } from '../phones/sip/message.ts';
import { TestNode } from '../support/node.ts';

const RATE = 20;

describe('passwords of phones', () => {
  let node: TestNode;
  const phones: Phone[] = [];
  const phone = async (login: string): Promise<Phone> => {
    const options = { login, domain: 'demo.local', password: `demo-${login}`, registrar: node.sip };
    const started = await Phone.start(options);
    phones.push(started);
    return started;
  };
  const refused = async (reason: string): Promise<number> => {
    const text = await (await fetch(`${node.base}/metrics`)).text();
    return Number(
      new RegExp(`^ringmaster_sip_requests_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1],
    );
  };
  beforeEach(async function () {
    this.timeout(30_000);
    node = await TestNode.start({ env: { RINGMASTER_SIP_REQUESTS: String(RATE) } });
  });
  afterEach(async () => {
    for (const each of phones.splice(0)) await each.stop({ abruptly: true });
    await node.remove();
  });

  it('five wrong ones ban the account at that address, but neither others nor its registered phone', async () => {
    const [registered, other, bob] = [await phone('alice'), await phone('alice'), await phone('bob')];
    await registered.register();
    for (let times = 1; times <= 5; times += 1) {
      const { status, response } = await other.register({ password: 'guess' });
      expect(status).to.equal(403);
      expect(header(response, 'retry-after') !== undefined, `after ${times}`).to.equal(times === 5);
    }
    const { status, response } = await other.register();
    expect(status, 'the right password').to.equal(403);
    expect(Number(header(response, 'retry-after'))).to.be.within(170, 180);
    expect((await registered.register()).status).to.equal(200);
    expect((await bob.register()).status).to.equal(200);
    expect(node.output).to.contain('"banned after wrong SIP passwords"');
    expect(await refused('password')).to.equal(5);
    expect(await refused('ban')).to.equal(1);
  });

  it('wrong ones of five accounts ban their address, but no registered phone', async () => {
    const [alice, scanner] = [await phone('alice'), await phone('dave')];
    await alice.register();
    for (const username of ['100', '101', '1000', 'admin', 'test']) {
      expect((await scanner.register({ username, password: username })).status).to.equal(403);
    }
    expect((await scanner.register()).status).to.equal(403);
    expect((await alice.register()).status).to.equal(200);
  });

  it('requests that need one are bounded for each address: 503 with Retry-After', async () => {
    const alice = await phone('alice');
    const answers = await Promise.all(Array.from({ length: 8 * RATE }, () => alice.request('REGISTER', [])));
    const late = answers.filter(({ status }) => status === 503);
    expect(answers.filter(({ status }) => status === 401).length).to.be.at.least(5 * RATE);
    expect(late.length).to.be.greaterThan(RATE);
    expect(await refused('rate')).to.equal(late.length);
    expect(node.output.match(/too many SIP requests/g)).to.have.length(1);
    expect(late.map((answer) => header(answer, 'retry-after'))).to.satisfy((all: string[]) =>
      all.every((seconds) => seconds === '1'),
    );
  });

  it('security.digest `always` asks a registered phone for its password at each call', async () => {
    const [alice, bob] = [await phone('alice'), await phone('bob')];
    await alice.register();
    await bob.register();
    const rest = await node.login();
    const [user] = (await rest.get('/rest/v1/domain/sipusers', { filter: '["==",["property","login"],"alice"]' })).json<
      { id: string }[]
    >();
    const [domain] = (
      await rest.get('/rest/v1/domain/domains', { filter: '["==",["property","name"],"demo.local"]' })
    ).json<{ id: string }[]>();
    const asked = async (): Promise<boolean> => {
      const call = await alice.call('102');
      const incoming = await bob.incoming();
      await incoming.answer();
      await call.answered();
      await call.hangup();
      return call.wasChallenged;
    };
    const set = async (path: string, digest: string | null): Promise<number> =>
      (await rest.send('PATCH', path, { body: { security: { digest } } })).status;
    const [ofUser, ofDomain] = [`/rest/v1/domain/sipusers/${user?.id}`, `/rest/v1/domain/domains/${domain?.id}`];
    expect(await asked()).to.equal(false);
    expect(await set(ofUser, 'sometimes')).to.equal(400);
    expect(await set(ofUser, 'always')).to.equal(200);
    expect(await asked()).to.equal(true);
    expect(await set(ofUser, null)).to.equal(200);
    expect(await set(ofDomain, 'always')).to.equal(200);
    expect(await asked()).to.equal(true);
    expect(await set(ofUser, 'unregistered')).to.equal(200);
    expect(await asked()).to.equal(false);
  });
});
