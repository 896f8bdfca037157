import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { runFollowers, EventBus } from '../../runtime/events/index.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { RunNews } from '../../runtime/runs/run/run-news.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

const SCRIPTS = '/rest/v1/domain/ivrscripts';
const SECRET = '73915';

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const asking = (helper: string): string => `start: pick_up

blocks:
  pick_up:
    answer:
    next: pin
  pin:
    collect: { max: 5, timeout: 20s, sensitive: true }
    exits:
      next: which
      timeout: end
  which:
    switch: \${pin.digits}
    exits:
      "${SECRET}": known
      else: end
  known:
    run: { scenario: ${helper} }
    next: end
`;

describe('events of runs', () => {
  const stage = useStage();
  const made: string[] = [];
  const sockets: WebSocket[] = [];

  afterEach('remove the scripts', async () => {
    for (const socket of sockets.splice(0)) socket.close();
    const admin = await stage.rest();
    for (const id of made.splice(0)) await admin.send('DELETE', `${SCRIPTS}/${id}`);
  });

  async function script(code: string, source: string): Promise<void> {
    const body = { code, name: code, scriptdata: { format: 'yaml', source } };
    const answer = await (await stage.rest()).send('POST', SCRIPTS, { body });
    expect(answer.status, answer.text).to.be.within(200, 201);
    made.push(answer.json<{ id: string }>().id);
  }

  /** Subscribes by WebSocket. @param events undefined: to everything */
  async function follow(login: string, events?: readonly string[]): Promise<Told[]> {
    const { token } = await stage.rest(login);
    const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    sockets.push(socket);
    const told: Told[] = [];
    const subscribed = Promise.withResolvers<void>();
    socket.on('message', (text: Buffer) => {
      const [method, body] = JSON.parse(text.toString()) as [string, Told];
      if (method === 'subscribe_result') subscribed.resolve();
      if (method === 'event') told.push(body);
    });
    await once(socket, 'open');
    socket.send(JSON.stringify(['subscribe', { id: `runs-${login}`, ...(events !== undefined && { events }) }]));
    await subscribed.promise;
    return told;
  }

  it('report the begin, each block and the end of a run to named subscriptions with the right to read runs', async () => {
    const told = await follow('admin', ['runevents']);
    const withoutRight = await follow('bob', ['runevents']);
    const everything = await follow('carol');
    const alice = await stage.phone('alice');
    const call = await alice.call('500');
    await call.answered();
    const blocks = (): unknown[] =>
      told.filter(({ type }) => type === 'block_entered').map(({ data }) => data['block']);
    await eventually(() => Promise.resolve(expect(blocks()).to.deep.equal(['pick_up', 'choice'])));
    await call.sendDtmf('2');
    await eventually(() => Promise.resolve(expect(blocks()).to.deep.equal(['pick_up', 'choice', 'second'])));
    await call.hangup();
    await eventually(() => Promise.resolve(expect(told.at(-1)?.type).to.equal('run_end')));
    const [begin, entered] = told;
    const id = String(begin?.data['id']);
    expect(begin?.type).to.equal('run_begin');
    expect(begin?.data).to.deep.include({ runid: id, scenario: 'menu', from: '101', to: '500' });
    expect(entered?.data).to.include({ id, step: 1, branch: 'main', block: 'pick_up', component: 'answer' });
    expect(told.at(-1)?.data).to.deep.include({ id, status: 'ended', steps: 3 });
    const record = (await (await stage.rest()).get(`/rest/v1/api/runs/${id}`)).json<{ outcome: { status: string } }>();
    expect(record.outcome.status).to.equal('ended');
    expect(withoutRight).to.deep.equal([]);
    expect(everything.filter(({ type }) => /^run_|^block_/.test(type))).to.deep.equal([]);
  });

  it('name the record of the run that started them, and have no sensitive value', async () => {
    await script('helper', 'start: leave\n\nblocks:\n  leave:\n    hangup:\n    next: end\n');
    await script('asking', asking('helper'));
    const told = await follow('admin', ['runevents']);
    const alice = await stage.phone('alice');
    const call = await alice.call('*55asking');
    await call.answered();
    await call.sendDtmf(SECRET);
    await call.ended();
    await eventually(() => Promise.resolve(expect(told.filter(({ type }) => type === 'run_end')).to.have.length(2)));
    const begun = told.filter(({ type }) => type === 'run_begin').map(({ data }) => data);
    expect(begun.map(({ scenario }) => scenario)).to.deep.equal(['asking', 'helper']);
    expect(new Set(told.map(({ data }) => data['id'])).size).to.equal(1);
    expect(begun[1]?.['runid']).to.not.equal(begun[1]?.['id']);
    expect(JSON.stringify(told)).to.not.include(SECRET);
  });

  it('come over Server-Sent Events, too, and not to webhooks', async () => {
    const admin = await stage.rest();
    const stop = new AbortController();
    const stream = await fetch(`${stage.node.base}/rest/v1/api/events?events=runevents.run_begin`, {
      headers: { authorization: `Bearer ${admin.token}` },
      signal: stop.signal,
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (part: string): Promise<void> => {
      while (!text.includes(part)) text += (await reader?.read())?.value ?? '';
    };
    await until('event: subscribed');
    const alice = await stage.phone('alice');
    const call = await alice.call('501');
    await call.answered();
    await until('"scenario":"echo"');
    expect(text).to.include('event: runevents').and.not.include('block_entered');
    stop.abort();
    await call.hangup();
    const body = { url: 'https://example.org/', events: ['runevents'] };
    const refused = await admin.send('POST', '/rest/v1/domain/webhooks', { body });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.include('comes over WebSocket and Server-Sent Events only');
  });
});

describe('events of runs that nobody follows', () => {
  it('are not made', () => {
    const domain = asDomainName('demo.local');
    const bus = new EventBus({ onListenerError: () => undefined });
    const heard: string[] = [];
    bus.subscribe({}, ({ type }) => heard.push(type));
    bus.subscribe({ domain }, ({ type }) => heard.push(type));
    const program = { id: 'menu', version: '1' };
    const news = new RunNews({ record: 'r', id: 'r', domain, program }, runFollowers(bus));
    news.began({ callid: '' });
    expect(bus.seq).to.equal(0);
    const stop = bus.subscribe({ domain, onDemand: true }, ({ class: name, type }) => heard.push(`${name}.${type}`));
    news.began({ callid: '' });
    expect(heard, 'only those that want them get them').to.deep.equal(['runevents.run_begin']);
    stop();
    news.began({ callid: '' });
    expect(bus.seq).to.equal(1);
  });
});
