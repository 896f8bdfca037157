/** Phones on IPv6, and phones on IPv6 and IPv4 with each other. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import { HAS_IPV6 } from '../support/ipv6.ts';
import { TestNode } from '../support/node.ts';
import { REAL_MEDIA, REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectTalk } from './expectations.ts';

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

  it('takes calls to its public address for its own', async () => {
    const four = await phone('101', {});
    const six = await phone('102', { address: '::1' });
    const call = await four.call(`sip:102@127.0.0.5:${node.sip.split(':')[1]}`);
    (await six.incoming()).ring();
    await call.ringing();
    await call.hangup();
  });
});
