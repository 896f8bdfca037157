/** Phones on IPv6, and phones on IPv6 and IPv4 with each other. */
import { lookup } from 'node:dns/promises';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Command } from '../cli/command.ts';
import { Baresip } from '../phones/baresip.ts';
import { requirePeer } from '../phones/peers.ts';
import { RestClient } from '../phones/rest-client.ts';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import { HAS_IPV6 } from '../support/ipv6.ts';
import { TestNode } from '../support/node.ts';
import { REAL_MEDIA, REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectCallsBothWays, expectTalk } from './expectations.ts';

async function isNamed(host: string): Promise<boolean> {
  return lookup(host, { family: 6 }).then(
    ({ address }) => address === '::1',
    () => false,
  );
}

function addressOf(sdp: string): string | undefined {
  return /^c=(.*)\r$/m.exec(sdp)?.[1];
}

describe('phones on IPv6', () => {
  before(function () {
    if (!HAS_IPV6 || REAL_SIP || REAL_MEDIA) this.skip();
  });

  const stage = useStage({ env: { RINGMASTER_SIP_HOST: '127.0.0.1,::1', RINGMASTER_HTTP_HOST: '127.0.0.1,::1' } });

  const onIpv6 = (): Partial<PhoneOptions> => ({
    address: '::1',
    registrar: `[::1]:${stage.node.sip.split(':')[1]}`,
  });

  it('are those of `ringmaster load`, too', async () => {
    const sip = `[::1]:${stage.node.sip.split(':')[1]}`;
    const { code, out, err } = await (await Command.run(['load', '--sip', sip, '--calls', '3', '--talk', '500ms']))
      .ended;
    expect(code, out + err).to.equal(0);
    expect(out)
      .to.contain(sip)
      .and.match(/^sound {11}3 calls checked, 3 right$/m);
  });

  it('register, and call each other with sound over IPv6', async () => {
    const sdps: string[] = [];
    const alice = await stage.phone('alice', { ...onIpv6(), receives: (sdp) => sdps.push(sdp) });
    const bob = await stage.phone('bob', { ...onIpv6(), receives: (sdp) => sdps.push(sdp) });
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    await outgoing.hold();
    await outgoing.unhold();
    await expectTalk(outgoing, incoming);
    await incoming.hangup();
    expect(new Set(sdps.map(addressOf))).to.deep.equal(new Set(['IN IP6 ::1']));
  });

  it('are bridged with phones on IPv4 by the media server, in both directions', async () => {
    const alice = await stage.phone('alice', { ...onIpv6(), transport: 'tcp' });
    const sdps: string[] = [];
    const bob = await stage.phone('bob', { receives: (sdp) => sdps.push(sdp) });
    const there = await stage.connect(alice, bob, '102');
    await expectTalk(there.outgoing, there.incoming);
    await there.outgoing.hangup();
    const back = await stage.connect(bob, alice, '101');
    await expectTalk(back.outgoing, back.incoming);
    await back.outgoing.hangup();
    expect(new Set(sdps.map(addressOf))).to.deep.equal(new Set(['IN IP4 127.0.0.1']));
  });

  it('are offered an address of their own family each when a number rings at both', async () => {
    const sdps: Record<string, string[]> = { four: [], six: [] };
    const alice = await stage.phone('alice');
    const four = await stage.phone('bob', { receives: (sdp) => sdps['four']?.push(sdp) });
    const six = await stage.phone('bob', { ...onIpv6(), receives: (sdp) => sdps['six']?.push(sdp) });
    for (const answers of ['four', 'six'] as const) {
      const outgoing = await alice.call('102');
      const incoming = { four: await four.incoming(), six: await six.incoming() };
      await incoming[answers].answer();
      await outgoing.answered();
      await expectTalk(outgoing, incoming[answers]);
      await outgoing.hangup();
    }
    expect(sdps['four']?.map(addressOf)).to.deep.equal(['IN IP4 127.0.0.1']);
    expect(sdps['six']?.map(addressOf)).to.deep.equal(['IN IP6 ::1']);
  });

  it('and on IPv4 reach carriers on IPv6, by address and by name, and are called from there', async () => {
    const number = '0077123456';
    const carrier = await Phone.start({
      login: number,
      domain: 'carrier.example',
      address: '::1',
      // The provider has its address in another spelling, or by name.
      tolerates: /Request-URI is/,
    });
    const port = Number(/:(\d+)$/.exec(carrier.contact)?.[1]);
    const rest = await stage.rest();
    const make = async (path: string, body: object): Promise<string> => {
      const answer = await rest.send('POST', path, { body });
      expect(answer.status, answer.text).to.equal(200);
      return `${path}/${answer.json<{ id: string }>().id}`;
    };
    const alice = await stage.phone('alice');
    const bob = await stage.phone('bob');
    const wrong = await rest.send('POST', '/rest/v1/domain/providers', { body: { code: 'six', host: ':::1', port } });
    expect(wrong.status, wrong.text).to.equal(400);
    const hosts = ['0:0:0:0:0:0:0:1', ...((await isNamed('ip6-localhost')) ? ['ip6-localhost'] : [])];
    for (const host of hosts) {
      const provider = { code: 'six', host, port, from_domain: 'carrier.example' };
      const made = [await make('/rest/v1/domain/providers', provider)];
      made.push(
        await make('/rest/v1/domain/routes', { to_pattern: '0077%', target: { type: 'provider', code: 'six' } }),
      );
      const out = await alice.call(number);
      const outside = await carrier.incoming();
      await outside.answer();
      await out.answered();
      await expectTalk(out, outside);
      await out.hangup();
      const into = await carrier.call(`sip:102@[::1]:${stage.node.sip.split(':')[1]}`);
      const inside = await bob.incoming();
      await inside.answer();
      await into.answered();
      await expectTalk(into, inside);
      await into.hangup();
      for (const path of made.toReversed()) expect((await rest.send('DELETE', path)).status).to.equal(204);
    }
    await carrier.stop();
    expect(carrier.violations).to.deep.equal([]);
  });

  for (const encryption of [undefined, 'dtls_srtp'] as const) {
    it(`talk from baresip to IPv4 and back, ${encryption === undefined ? 'plain' : 'with keys by DTLS'}`, async function () {
      const program = requirePeer(this, 'baresip');
      const alice = await stage.phone('alice');
      const server = `[::1]:${stage.node.sip.split(':')[1]}`;
      const account = { login: 'carol', domain: 'demo.local', password: 'demo-carol', server, tone: 500 };
      const carol = await Baresip.start(program, { ...account, ...(encryption && { encryption }) });
      await carol.registered();
      try {
        carol.dial('sip:101@demo.local');
        const incoming = await alice.incoming();
        await incoming.answer();
        await incoming.hears(500);
        carol.hangup();
        await incoming.ended();
        await carol.event('CALL_CLOSED');
        if (encryption === undefined) await expectCallsBothWays(alice, carol);
      } finally {
        await carol.stop();
      }
    });
  }

  it('register and talk over a WebSocket of the REST service', async () => {
    const { port } = new URL(stage.node.base);
    const options = { transport: 'ws', connection: { server: `ws://[::1]:${port}/sip` }, address: '::1' } as const;
    const alice = await stage.phone('alice', { ...options, registrar: '[::1]:5060' });
    const call = await alice.call('501');
    await call.answered();
    call.play(440);
    await call.hears(440);
    await call.hangup();
  });

  it('reach scenarios and the REST service', async () => {
    const alice = await stage.phone('alice', onIpv6());
    const call = await alice.call('501');
    await call.answered();
    call.play(440);
    await call.hears(440);
    await call.hangup();
    const { port } = new URL(stage.node.base);
    const answer = await fetch(`http://[::1]:${port}/healthz`);
    expect(answer.status).to.equal(200);
  });
});

describe('a node at every address, with a public one', () => {
  const folder = temporaryFolder();
  const phones: Phone[] = [];
  let node: TestNode;

  before(async function () {
    if (!HAS_IPV6 || REAL_SIP || REAL_MEDIA) this.skip();
    this.timeout(90_000);
    const file = join(folder, 'admin.json');
    const sipusers = ['101', '102'].map((login) => ({ login, pwd: `secret-of-${login}` }));
    await writeFile(file, JSON.stringify({ domain: 'shop.example', admin: 'root', pwd: 'secret-of-root', sipusers }));
    // On loopback, 127.0.0.5 stands for the address of a NAT: it leads to the node, but no socket is bound to it.
    const env = { RINGMASTER_SIP_HOST: '::', RINGMASTER_PUBLIC_ADDRESS: '127.0.0.5', RINGMASTER_ADMIN_FILE: file };
    node = await TestNode.start({ env });
  });

  afterEach(async () => {
    for (const phone of phones.splice(0)) {
      await phone.stop();
      expect(phone.violations).to.deep.equal([]);
    }
  });

  after(() => node?.remove());

  const phone = async (login: string, options: Partial<PhoneOptions>): Promise<Phone> => {
    const port = node.sip.split(':')[1];
    const started = await Phone.start({
      login,
      domain: 'shop.example',
      password: `secret-of-${login}`,
      registrar: options.address === '::1' ? `[::1]:${port}` : node.sip,
      ...options,
    });
    phones.push(started);
    expect((await started.register()).status).to.equal(200);
    return started;
  };

  it('tells a phone on IPv4 the public address, and one on IPv6 the address that it calls', async () => {
    const sdps: Record<string, string[]> = { four: [], six: [] };
    const four = await phone('101', { receives: (sdp) => sdps['four']?.push(sdp) });
    const six = await phone('102', { address: '::1', receives: (sdp) => sdps['six']?.push(sdp) });
    for (const [from, to, number] of [
      [four, six, '102'],
      [six, four, '101'],
    ] as const) {
      const outgoing = await from.call(number);
      const incoming = await to.incoming();
      await incoming.answer();
      await outgoing.answered();
      await expectTalk(outgoing, incoming);
      await outgoing.hangup();
    }
    expect(new Set(sdps['four']?.map(addressOf))).to.deep.equal(new Set(['IN IP4 127.0.0.5']));
    expect(new Set(sdps['six']?.map(addressOf))).to.deep.equal(new Set(['IN IP6 ::1']));
    const port = node.sip.split(':')[1];
    const requestsTo = (one: Phone) => one.trace().join('\n');
    expect(requestsTo(four)).to.contain(`ACK sip:127.0.0.5:${port}`);
    expect(requestsTo(six)).to.contain(`ACK sip:[::1]:${port}`);
  });

  it('shows its own addresses in ladders, not those of its listeners', async () => {
    const four = await phone('101', {});
    const six = await phone('102', { address: '::1' });
    const outgoing = await four.call('102');
    await (await six.incoming()).answer();
    await outgoing.answered();
    await outgoing.hangup();
    const rest = await RestClient.login(node.base, { domain: 'shop.example', login: 'root', pwd: 'secret-of-root' });
    const answer = await rest.get(`/rest/v1/uc/calls/${encodeURIComponent(outgoing.callId)}/ladder`);
    expect(answer.status, answer.text).to.equal(200);
    const { messages } = answer.json<{ messages: { from: string; to: string; sent: boolean }[] }>();
    const port = node.sip.split(':')[1];
    const own = messages.map(({ from, to, sent }) => (sent ? from : to));
    expect(new Set(own)).to.deep.equal(new Set([`127.0.0.1:${port}`, `[::1]:${port}`]));
    rest.close();
  });

  it('takes calls to its public address for its own', async () => {
    const four = await phone('101', {});
    const six = await phone('102', { address: '::1' });
    const call = await four.call(`sip:102@127.0.0.5:${node.sip.split(':')[1]}`);
    (await six.incoming()).ring();
    await call.ringing();
    await call.hangup();
  });
});
