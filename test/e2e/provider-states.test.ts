import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { Challenger } from '../phones/challenger.ts';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { header } from '../phones/sip/message.ts';
import { eventually } from '../support/eventually.ts';
import { type Stage, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const PROVIDERS = '/rest/v1/domain/providers';
const ACCOUNT = { realm: 'operator.example', username: 'acme', password: 'trunk-secret' };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly reachable: boolean | null;
  readonly since: string | null;
  readonly expires: string | null;
  readonly last_answer: { readonly sip_status: number; readonly reason: string; readonly at: string } | null;
}

const portOf = ({ contact }: Phone): number => parseUri(contact).port ?? 0;

/** The changes of providers that a user is told: code, state and reachable. */
async function changesFor(stage: Stage, login: string): Promise<{ readonly seen: unknown[][]; close(): void }> {
  const { token } = await stage.rest(login);
  const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const seen: unknown[][] = [];
  const subscribed = Promise.withResolvers<void>();
  socket.on('message', (text: Buffer) => {
    const [method, body] = JSON.parse(text.toString()) as [string, { data: Shown & { code: string } }];
    if (method === 'subscribe_result') subscribed.resolve();
    if (method === 'event') seen.push([body.data.code, body.data.state, body.data.reachable]);
  });
  await once(socket, 'open');
  const events = ['providerevents.provider_state'];
  socket.send(JSON.stringify(['subscribe', { qid: '1', id: 'providers', events, expires: 60 }]));
  await subscribed.promise;
  return { seen, close: () => socket.close() };
}

describe('the state of a provider', () => {
  const stage = useStage();
  const phones: Phone[] = [];
  const made: string[] = [];

  afterEach(async () => {
    const rest = await stage.rest();
    for (const id of made.splice(0)) expect((await rest.send('DELETE', `${PROVIDERS}/${id}`)).status).to.equal(204);
    for (const phone of phones.splice(0)) await phone.stop();
  });

  /** An operator by TCP: one that is gone is noticed at once. */
  async function operator(options: Partial<PhoneOptions> = {}): Promise<Phone> {
    const phone = await Phone.start({ login: 'acme', domain: 'operator.example', transport: 'tcp', ...options });
    phones.push(phone);
    return phone;
  }

  async function make(at: Phone, body: object): Promise<Shown> {
    const { host, port } = parseUri(at.contact);
    const answer = await (await stage.rest()).send('POST', PROVIDERS, {
      body: { host, port, transport: 'tcp', ...body },
    });
    expect(answer.status, answer.text).to.equal(200);
    const shown = answer.json<Shown>();
    made.push(shown.id);
    return shown;
  }

  async function patch(id: string, body: object): Promise<void> {
    const answer = await (await stage.rest()).send('PATCH', `${PROVIDERS}/${id}`, { body });
    expect(answer.status, answer.text).to.equal(200);
  }

  async function becomes(id: string, expected: Partial<Shown>): Promise<Shown> {
    return eventually(async () => {
      const shown = (await (await stage.rest()).get(`${PROVIDERS}/${id}`)).json<Shown>();
      expect(shown).to.include(expected);
      return shown;
    }, 15_000);
  }

  it('tells whether this node is registered there, refused, or without an answer, also in events and metrics', async () => {
    const challenger = new Challenger(ACCOUNT);
    const first = await operator({ challenger });
    const [admin, alice] = [await changesFor(stage, 'admin'), await changesFor(stage, 'alice')];
    const account = { register: 'outbound', login: 'acme', from_domain: 'operator.example' };
    const { id } = await make(first, { code: 'stately', ...account, pwd: 'wrong' });
    const refused = await becomes(id, { state: 'rejected', reachable: true, expires: null });
    expect(refused.last_answer?.sip_status).to.equal(403);
    expect(refused.since).to.match(ISO);

    await patch(id, { pwd: 'trunk-secret' });
    const registered = await becomes(id, { state: 'registered', reachable: true });
    expect(registered.last_answer).to.include({ sip_status: 200 });
    expect(Date.parse(registered.expires ?? '')).to.be.above(Date.now());
    const rest = await stage.rest();
    const list = await rest.get(PROVIDERS, { filter: '{"state":"registered","code":"stately"}', mask: 'code,state' });
    expect(list.json()).to.deep.equal([{ code: 'stately', state: 'registered' }]);
    const metrics = (await rest.get('/metrics')).text;
    const labels = 'domain="demo.local",trunk="stately"';
    expect(metrics).to.contain(`ringmaster_trunk_state{${labels},state="registered"} 1\n`);
    expect(metrics).to.not.contain(`ringmaster_trunk_state{${labels},state="rejected"}`);
    expect(metrics).to.contain(`ringmaster_trunk_reachable{${labels}} 1\n`);

    await first.stop();
    await patch(id, { register_expires: 900 });
    const gone = await becomes(id, { state: 'unreachable', reachable: false, expires: null });
    expect(gone.last_answer?.sip_status).to.be.oneOf([408, 503]);
    await operator({ challenger, port: portOf(first) });
    await patch(id, { register_expires: 901 });
    await becomes(id, { state: 'registered', reachable: true });

    await eventually(async () => expect(admin.seen.at(-1)).to.deep.equal(['stately', 'registered', true]));
    expect(admin.seen.filter(([, state]) => state !== 'registering')).to.deep.equal([
      ['stately', 'rejected', true],
      ['stately', 'registered', true],
      ['stately', 'unreachable', false],
      ['stately', 'registered', true],
    ]);
    expect(alice.seen, 'of a user without the right').to.deep.equal([]);
    for (const each of [admin, alice]) each.close();
  });

  it('tells by OPTIONS whether a provider without a registration is there', async () => {
    let status = 404;
    const first = await operator({ optionsStatus: () => status });
    const { id, ...shown } = await make(first, { code: 'pinged' });
    expect(shown).to.include({ state: 'unregistered', reachable: null, last_answer: null });
    const rest = await stage.rest();
    await patch(id, { opts: { ping: 1 } });
    const etag = async () => (await rest.get(`${PROVIDERS}/${id}`)).headers['etag'];
    const before = await etag();
    const there = await becomes(id, { state: 'unregistered', reachable: true });
    expect(there.last_answer).to.include({ sip_status: 404 });
    const request = await first.requests.next(5000);
    expect(request.method).to.equal('OPTIONS');
    expect(header(request, 'from')).to.match(/^<sip:127\.0\.0\.1>/);
    status = 503;
    await becomes(id, { reachable: false });
    status = 200;
    await becomes(id, { reachable: true });
    await first.stop();
    const gone = await becomes(id, { reachable: false, state: 'unregistered' });
    expect(Date.parse(gone.since ?? '')).to.be.above(Date.parse(there.since ?? ''));
    await operator({ port: portOf(first) });
    await becomes(id, { reachable: true });
    expect(await etag(), 'tags cover the settings').to.equal(before);
    await patch(id, { opts: { ping: null } });
    await becomes(id, { reachable: null });
  });

  it('tells whether the gateway of a provider is registered here', async () => {
    const gateway = await operator({ domain: 'demo.local', registrar: stage.node.sip, password: 'gate-secret' });
    const { id } = await make(gateway, { code: 'gate', register: 'inbound', login: 'acme', pwd: 'gate-secret' });
    await becomes(id, { state: 'unregistered', expires: null });
    expect((await gateway.register()).status).to.equal(200);
    const { expires } = await becomes(id, { state: 'registered', reachable: null });
    expect(Date.parse(expires ?? '')).to.be.above(Date.now());
    expect((await gateway.unregister()).status).to.equal(200);
    await becomes(id, { state: 'unregistered' });
  });

  it('is not writable, nor a part of an export', async () => {
    const { id } = await make(await operator(), { code: 'settings' });
    const rest = await stage.rest();
    const written = await rest.send('PATCH', `${PROVIDERS}/${id}`, { body: { state: 'registered' } });
    expect(expectError(written, 400, 1400).error_details?.field).to.equal('state');
    const slow = await rest.send('PATCH', `${PROVIDERS}/${id}`, { body: { opts: { ping: 0.5 } } });
    expect(expectError(slow, 400, 1400).error_details?.field).to.equal('opts.ping');
    const exported = (await rest.get(PROVIDERS, { export: 'true', filter: '{"code":"settings"}' })).json<object[]>();
    expect(Object.keys(exported[0] ?? {}))
      .to.include('host')
      .and.not.include.members(['state', 'last_answer']);
  });
});
