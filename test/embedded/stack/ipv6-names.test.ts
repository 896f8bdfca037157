import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { SipEndpoint, SipRequest, SipTransportError, token, newCallId } from '../../../runtime/embedded/stack/index.ts';
import { HAS_IPV6 } from '../../support/ipv6.ts';

/** Addresses of names, in the order of a resolver that has IPv6 first. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'both.example': ['::1', '127.0.0.1'],
  'six.example': ['::1'],
};

/** A request, and its answer: where it came from, and what it said. */
async function ask(client: SipEndpoint, host: string, port: number): Promise<string> {
  const request = new SipRequest('OPTIONS', `sip:${host}:${port}`);
  request.add('Max-Forwards', '70').add('From', `<sip:a@x>;tag=${token()}`).add('To', `<sip:${host}>`);
  request.add('Call-ID', newCallId()).add('CSeq', '1 OPTIONS');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  client.request(
    request,
    { transport: 'udp', host, port },
    { response: (response) => resolve(response.header('subject') ?? ''), failed: reject },
  );
  return promise;
}

describe('host names with addresses of both families', () => {
  const { lookup } = dns;
  const open: SipEndpoint[] = [];

  before(function () {
    if (!HAS_IPV6) this.skip();
    Object.assign(dns, {
      lookup: async (name: string) =>
        (NAMES[name] ?? [])
          .toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
          .map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    });
    syncBuiltinESMExports();
  });

  after(() => {
    Object.assign(dns, { lookup });
    syncBuiltinESMExports();
  });

  afterEach(async () => {
    for (const endpoint of open.splice(0)) await endpoint.close();
  });

  /** Answers with the source, and the host of Via. */
  async function server(port = 0): Promise<number> {
    const endpoint = new SipEndpoint({
      handler: {
        request: (transaction) => {
          const { request, source } = transaction;
          transaction.reply(200, { headers: { Subject: `from ${source.address}, via ${request.topVia.host}` } });
        },
      },
    });
    open.push(endpoint);
    const four = await endpoint.listen({ host: '127.0.0.1', port });
    await endpoint.listen({ host: '::1', port: four.port });
    return four.port;
  }

  async function client(...hosts: readonly string[]): Promise<SipEndpoint> {
    const endpoint = new SipEndpoint({ handler: { request: () => undefined } });
    open.push(endpoint);
    for (const host of hosts) await endpoint.listen({ host, port: 0 });
    return endpoint;
  }

  it('are called by IPv4, if this side has it', async () => {
    const port = await server();
    expect(await ask(await client('127.0.0.1', '::1'), 'both.example', port)).to.equal('from 127.0.0.1, via 127.0.0.1');
  });

  it('are called by IPv6 where one side has nothing else, with that address in Via', async () => {
    const port = await server();
    const subject = 'from ::1, via ::1';
    expect(await ask(await client('127.0.0.1', '::1'), 'six.example', port)).to.equal(subject);
    expect(await ask(await client('::1'), 'both.example', port)).to.equal(subject);
  });

  it('of a family that this side lacks are unreachable, not a wrong URI', async () => {
    const failed = await ask(await client('127.0.0.1'), 'six.example', 5060).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(SipTransportError).with.property('reason', 'unreachable');
    expect(() => open.at(-1)?.addressFor({ transport: 'udp', host: '::1', port: 5060 })).to.throw('no IPv6 address');
  });
});
