import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import { noise } from '../media/machine-detection/support.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';

const MODEL = '/rest/v1/model/campaign';
const number = { name: 'number', data_type: 'string', unique: true };
const CLASSES = [
  {
    classname: 'campaign/numbers',
    storage_mode: 'category',
    properties: [
      number,
      { name: 'state', data_type: 'string', default: 'waiting' },
      ...['attempts', 'next', 'since'].map((name) => ({ name, data_type: 'long', default: 0 })),
    ],
  },
  {
    classname: 'campaign/calls',
    storage_mode: 'category',
    properties: [
      { name: 'key', data_type: 'string', unique: true },
      { name: 'number', data_type: 'string' },
      { name: 'result', data_type: 'string' },
      ...['begun', 'ended'].map((name) => ({ name, data_type: 'long' })),
    ],
  },
];

/** A node of its own, because it is killed. */
describe('the example of a campaign', () => {
  let node: TestNode;
  let admin: RestClient;
  const phones: Phone[] = [];

  before(async function () {
    this.timeout(90_000);
    node = await TestNode.start();
    admin = await node.login('admin');
    for (const body of CLASSES) await send('POST', '/rest/v1/domain/classes', body);
    const callees = [{ number: '102' }, { number: '103' }, { number: '104' }];
    await send('POST', `${MODEL}/numbers`, callees);
  });

  after(async function () {
    this.timeout(20_000);
    await Promise.all(phones.map((each) => each.stop({ abruptly: true })));
    await node.remove();
  });

  async function send(method: string, path: string, body: unknown) {
    const answer = await admin.send(method, path, { body });
    expect(answer.status, answer.text).to.be.within(200, 202);
    return answer.json<object>();
  }

  const round = async () => send('POST', '/rest/v1/api/hooks/campaign', { dial: true, lines: 3 });
  const report = async () => send('POST', '/rest/v1/api/hooks/campaign', {});

  async function phone(login: string): Promise<Phone> {
    const options = { login, domain: 'demo.local', password: `demo-${login}`, registrar: node.sip };
    const started = await Phone.start(options);
    phones.push(started);
    expect((await started.register()).status).to.equal(200);
    return started;
  }

  it('reaches a person, and calls nobody twice: not in two rounds at once, and not after a restart', async function () {
    this.timeout(90_000);
    const [bob, carol, dave] = [await phone('bob'), await phone('carol'), await phone('dave')];
    const rounds = [round(), round()];
    for (const each of rounds) each.catch(() => undefined);
    const [first, second, third] = await Promise.all([bob.incoming(), carol.incoming(), dave.incoming()]);
    second.reject(486);
    third.ring();
    await first.answer();
    await first.say(noise(400, 3000));
    await first.hearsSound();
    await first.ended();
    await eventually(async () => {
      const done = { numbers: { waiting: 1, calling: 1, lost: 0, reached: 1, given_up: 0 } };
      expect(await report()).to.deep.equal({ ...done, calls: { reached: 1, busy: 1, open: 1 } });
    });

    await node.kill();
    third.abandon();
    await node.restart();
    admin = await node.login('admin');
    expect(await round()).to.deep.equal({ due: 0 });
    // Even where the node ended between the claim of the attempt and the note of its beginning.
    const filter = encodeURIComponent('{"state":"calling"}');
    const [entity] = (await admin.get(`${MODEL}/numbers?filter=${filter}`)).json<readonly { id: string }[]>();
    await send('PATCH', `${MODEL}/numbers/${entity?.id}`, { state: 'waiting', attempts: 0 });
    expect(await round()).to.deep.equal({ due: 1 });
    expect([bob, carol, dave].map(({ waitingCalls }) => waitingCalls)).to.deep.equal([0, 0, 0]);
  });
});
