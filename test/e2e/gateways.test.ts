import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { followEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const PROVIDERS = '/rest/v1/domain/providers';
const ROUTES = '/rest/v1/domain/routes';
const HISTORY = '/rest/v1/uc/history';
/** An external number, reached through the carrier. */
const OUTSIDE = '0077123456';

interface GatewayState {
  readonly gateway: string;
  readonly reachable: boolean | null;
  readonly retry_at: string | null;
  readonly last_answer: { readonly sip_status: number } | null;
}

interface Recorded {
  readonly trunk: string;
  readonly gateway: string | null;
  readonly result: string;
  readonly sip_status: number;
  readonly legs: readonly {
    readonly side: string;
    readonly gateway: string | null;
    readonly sip_status: number | null;
  }[];
}

describe('a provider with several gateways', () => {
  const stage = useStage();
  const made: string[] = [];
  const carriers: Phone[] = [];
  const sockets: Socket[] = [];

  afterEach(async () => {
    const admin = await stage.rest();
    for (const path of made.splice(0).toReversed()) expect((await admin.send('DELETE', path)).status).to.equal(204);
    for (const one of carriers.splice(0)) await one.stop();
    for (const socket of sockets.splice(0)) socket.close();
  });

  async function carrier(options: { port?: number; optionsStatus?: () => number } = {}): Promise<Phone> {
    const phone = await Phone.start({ login: OUTSIDE, domain: 'carrier.example', ...options });
    carriers.push(phone);
    return phone;
  }

  /** An address that takes requests and never answers. */
  async function silent(): Promise<{ readonly port: number; readonly calls: Set<string>; close(): Promise<void> }> {
    const socket = createSocket('udp4');
    const calls = new Set<string>();
    socket.on('message', (data) => {
      const text = data.toString();
      if (text.startsWith('INVITE ')) calls.add(/^call-id:(.*)$/im.exec(text)?.[1] ?? '');
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    sockets.push(socket);
    const close = async (): Promise<void> => {
      sockets.splice(sockets.indexOf(socket), 1);
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    };
    return { port: socket.address().port, calls, close };
  }

  const portOf = ({ contact }: Phone): number => parseUri(contact).port ?? 0;

  async function make(collection: string, body: object): Promise<string> {
    const answer = await (await stage.rest()).send('POST', collection, { body });
    expect(answer.status, answer.text).to.equal(200);
    const { id } = answer.json<{ id: string }>();
    made.push(`${collection}/${id}`);
    return id;
  }

  /** A provider with these gateways, by priority, and the route to it. */
  async function provider(ports: readonly number[], opts: object = {}): Promise<string> {
    const gateways = ports.map((port, index) => ({ host: '127.0.0.1', port, priority: index + 1 }));
    const id = await make(PROVIDERS, { code: 'carrier', host: 'carrier.invalid', gateways, opts });
    await make(ROUTES, { to_pattern: '0077%', target: { type: 'provider', code: 'carrier' } });
    return id;
  }

  async function states(id: string): Promise<readonly GatewayState[]> {
    const answer = await (await stage.rest()).get(`${PROVIDERS}/${id}`);
    return answer.json<{ gateway_states: readonly GatewayState[] }>().gateway_states;
  }

  async function lastRecord(): Promise<Recorded> {
    const query = { filter: JSON.stringify({ dialled: OUTSIDE }), order: '[{"ts":"desc"}]', limit: '1' };
    const [record] = (await (await stage.rest()).get(HISTORY, query)).json<readonly Recorded[]>();
    if (record === undefined) throw new Error('no record of the call');
    return record;
  }

  it('calls the next one when one refuses with 503, cannot be reached or is silent, and leaves out those that are gone', async () => {
    const [full, mute, last] = [await carrier(), await silent(), await carrier()];
    const refused = await silent();
    await refused.close();
    const id = await provider([portOf(full), refused.port, mute.port, portOf(last)], { gateway_timeout: 1 });
    const changes = await followEvents<GatewayState>(stage, 'providerevents.gateway_state');

    const alice = await stage.phone('alice');
    const outgoing = await alice.call(OUTSIDE);
    (await full.incoming()).reject(503);
    const incoming = await last.incoming();
    incoming.ring();
    await outgoing.ringing();
    await incoming.answer();
    await outgoing.answered();
    await outgoing.hangup();
    await incoming.ended();
    const name = (port: number): string => `127.0.0.1:${port}`;
    await eventually(async () => {
      const record = await lastRecord();
      expect(record).to.include({ trunk: 'carrier', gateway: name(portOf(last)), result: 'answered', sip_status: 200 });
      const called = record.legs.filter(({ side }) => side === 'b').map((leg) => [leg.gateway, leg.sip_status]);
      expect(called).to.deep.equal([
        [name(portOf(full)), 503],
        [name(refused.port), 503],
        [name(mute.port), 503],
        [name(portOf(last)), 200],
      ]);
    });
    const known = await states(id);
    expect(known.map(({ reachable }) => reachable)).to.deep.equal([true, false, false, true]);
    expect(known[2]?.last_answer?.sip_status).to.equal(408);
    const metrics = (await (await stage.rest()).get('/metrics')).text;
    const labels = `domain="demo.local",trunk="carrier",gateway="${name(mute.port)}"`;
    expect(metrics).to.contain(`ringmaster_trunk_gateway_reachable{${labels}} 0\n`);

    // The next call leaves both out.
    expect(mute.calls.size).to.equal(1);
    const again = await alice.call(OUTSIDE);
    (await full.incoming()).reject(500);
    (await last.incoming()).reject(486);
    expect((await again.refused()).status).to.equal(486);
    expect(mute.calls.size).to.equal(1);

    // OPTIONS find the silent one when it is back.
    const patched = await (await stage.rest()).send('PATCH', `${PROVIDERS}/${id}`, {
      body: { opts: { gateway_timeout: 1, ping: 1 } },
    });
    expect(patched.status, patched.text).to.equal(200);
    await mute.close();
    await carrier({ port: mute.port });
    await eventually(async () => expect((await states(id))[2]?.reachable).to.equal(true), 15_000);
    await eventually(() => {
      const ofMute = changes.seen.filter(({ gateway }) => gateway === name(mute.port));
      expect(ofMute.map(({ reachable }) => reachable)).to.deep.equal([false, true]);
      return Promise.resolve();
    });
    changes.close();
  });

  it('keeps a call at the gateway that rings, and ends it with a busy or declined number', async () => {
    const [first, second] = [await carrier(), await carrier()];
    await provider([portOf(first), portOf(second)]);
    const alice = await stage.phone('alice');
    for (const [rings, status] of [
      [false, 486],
      [false, 404],
      [false, 603],
      [true, 503],
      [true, 500],
    ] as const) {
      const outgoing = await alice.call(OUTSIDE);
      const incoming = await first.incoming();
      if (rings) {
        incoming.ring();
        await outgoing.ringing();
      }
      incoming.reject(status);
      expect((await outgoing.refused()).status).to.equal(status);
    }
    expect(second.waitingCalls).to.equal(0);
  });

  it('leaves out a gateway that asked for a pause (503 with Retry-After), while there is another one', async () => {
    const [first, second] = [await carrier(), await carrier()];
    const id = await provider([portOf(first), portOf(second)]);
    const alice = await stage.phone('alice');
    const outgoing = await alice.call(OUTSIDE);
    (await first.incoming()).reject(503, { headers: [{ name: 'Retry-After', value: '300 (maintenance)' }] });
    (await second.incoming()).reject(486);
    await outgoing.refused();
    const again = await alice.call(OUTSIDE);
    (await second.incoming()).reject(486);
    await again.refused();
    expect(first.waitingCalls).to.equal(0);
    const [state] = await states(id);
    expect(state?.reachable).to.equal(true);
    expect(Date.parse(state?.retry_at ?? '')).to.be.above(Date.now());
  });

  it('answers 503 when no gateway can be reached, and tries them all the same at the next call', async () => {
    const gone = [await silent(), await silent()];
    for (const each of gone) await each.close();
    const id = await provider(gone.map(({ port }) => port));
    const alice = await stage.phone('alice');
    expect((await (await alice.call(OUTSIDE)).refused()).status).to.equal(503);
    expect((await states(id)).map(({ reachable }) => reachable)).to.deep.equal([false, false]);
    const back = await carrier({ port: gone[1]?.port ?? 0, optionsStatus: () => 503 });
    const outgoing = await alice.call(OUTSIDE);
    (await back.incoming()).reject(486);
    expect((await outgoing.refused()).status).to.equal(486);
    await eventually(async () => expect((await lastRecord()).result).to.equal('busy'));
  });

  it('takes calls from the addresses of its gateways', async () => {
    const gateway = await Phone.start({ login: OUTSIDE, domain: 'carrier.example', registrar: stage.node.sip });
    carriers.push(gateway);
    await provider([portOf(gateway)]);
    const bob = await stage.phone('bob');
    const { outgoing, incoming } = await stage.connect(gateway, bob, '102');
    expect((await stage.dialog()).esgcallid).to.equal(outgoing.callId);
    await outgoing.hangup();
    await incoming.ended();
  });

  it('is refused with the wrong field named', async () => {
    const at = { host: '127.0.0.1' };
    for (const [field, body] of [
      ['gateways.0.host', { gateways: [{ host: 'bad host' }] }],
      ['gateways.0.port', { gateways: [{ ...at, port: 0 }] }],
      ['gateways.0.weight', { gateways: [{ ...at, weight: -1 }] }],
      ['gateways.0.prio', { gateways: [{ ...at, prio: 1 }] }],
      ['gateways.1', { gateways: [at, { ...at, port: 5060 }] }],
      ['gateways', { gateways: [at], register: 'inbound', login: 'g' }],
      ['opts.gateway_timeout', { opts: { gateway_timeout: 33 } }],
    ] as const) {
      const answer = await (await stage.rest()).send('POST', PROVIDERS, { body: { code: 'bad', host: 'x', ...body } });
      expect(expectError(answer, 400, 1400).error_details?.field).to.equal(field);
    }
  });
});
