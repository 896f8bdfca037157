import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { services as servicesWith } from '../support/scenarios.ts';
import { play } from './support.ts';
import type { Value } from '../../runtime/language/values.ts';
import { AddressGuard, AllowListError, HostGuard } from '../../components/http/address-guard.ts';
import { GuardedHttpClient } from '../../components/http/client.ts';
import type { HttpRequest } from '../../runtime/runs/ports/http.ts';

describe('HTTP client of scenarios', () => {
  let server: Server;
  let base: string;
  let seen: { url: string; authorization: string | undefined; body: string }[];
  before(async () => {
    server = createServer((request, response) => {
      const { url = '', headers } = request;
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ url, authorization: headers.authorization, body });
        if (url === '/big') response.end('x'.repeat(5000));
        else if (url === '/redirect') response.writeHead(302, { location: '/json' }).end();
        else if (url === '/away') response.writeHead(302, { location: base.replace('127.0.0.1', 'localhost') }).end();
        else if (url === '/metadata') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
        else if (url === '/round') response.writeHead(302, { location: '/round' }).end();
        else if (url !== '/slow') response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}');
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => (seen = []));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const open = (options: Partial<ConstructorParameters<typeof GuardedHttpClient>[0]> = {}) =>
    new GuardedHttpClient({ hosts: ['*'], networks: ['127.0.0.0/8', '::1'], ...options });
  const request = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
    method: 'GET',
    url,
    headers: {},
    body: undefined,
    timeoutMs: 5000,
    maxBytes: 1000,
    signal: new AbortController().signal,
    domain: asDomainName('demo.local'),
    ...more,
  });
  const codeOf = (client: GuardedHttpClient, url: string, more: Partial<HttpRequest> = {}) =>
    client.request(request(url, more)).then(
      ({ status }) => String(status),
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );

  it('reaches an allowed host', async () => {
    const { status, headers, body } = await open().request(request(`${base}/json`, { method: 'POST', body: 'hello' }));
    expect({ status, body, type: headers['content-type'] }).to.deep.equal({
      status: 200,
      body: '{"a":1}',
      type: 'application/json',
    });
    expect(seen[0]?.body).to.equal('hello');
  });

  it('sends Content-Length with a body, for any method', async () => {
    for (const method of ['GET', 'DELETE', 'PUT'])
      expect(await codeOf(open(), `${base}/json`, { method, body: 'hellö' }), method).to.equal('200');
    expect(seen.map(({ body }) => body)).to.deep.equal(['hellö', 'hellö', 'hellö']);
  });

  it("reaches the node's own networks only when allowed", async () => {
    const client = open({ networks: [] });
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '0x7f.1',
      '2130706433',
      '[::ffff:127.0.0.1]',
      '10.0.0.1',
      '169.254.169.254',
    ]) {
      expect(await codeOf(client, base.replace('127.0.0.1', host)), host).to.equal('http_forbidden');
    }
    expect(seen).to.deep.equal([]);
  });

  it('names the setting that allows a host', async () => {
    const wordsOf = (client: GuardedHttpClient, url: string) =>
      client.request(request(url)).then(
        ({ status }) => String(status),
        ({ message }: Error) => message,
      );
    expect(await wordsOf(open({ hosts: ['api.example.com'] }), base)).to.equal(
      'the host 127.0.0.1 is not allowed: the operator allows hosts by RINGMASTER_SCENARIO_HOSTS',
    );
    expect(await wordsOf(open({ networks: [] }), base)).to.equal(
      '127.0.0.1 is in a network that is not allowed: the operator allows networks by RINGMASTER_SCENARIO_NETWORKS',
    );
  });

  it('reaches no other host, and follows no redirection to one', async () => {
    expect(await codeOf(open({ hosts: ['api.example.com'] }), base)).to.equal('http_forbidden');
    expect(await codeOf(open({ hosts: ['127.0.0.1'] }), `${base}/away`)).to.equal('http_forbidden');
    expect(await codeOf(open(), `${base}/metadata`)).to.equal('http_forbidden');
    for (const url of ['ftp://example.com/', 'file:///etc/passwd', 'http://user:pw@example.com/', 'nothing'])
      expect(await codeOf(open(), url), url).to.equal('http_forbidden');
  });

  it('follows a limited number of redirections, without credentials to another origin', async () => {
    const headers = { authorization: 'Bearer secret', Host: 'evil' };
    expect(await codeOf(open(), `${base}/redirect`, { headers })).to.equal('200');
    expect(await codeOf(open(), `${base}/away`, { headers })).to.match(/^200|http_failed$/);
    const kept = seen.map(({ url, authorization }) => `${url} ${authorization ?? '-'}`);
    expect(kept.slice(0, 3)).to.deep.equal(['/redirect Bearer secret', '/json Bearer secret', '/away Bearer secret']);
    expect(kept.slice(3).every((line) => line.endsWith(' -'))).to.equal(true);
    expect(await codeOf(open(), `${base}/round`)).to.equal('http_failed');
  });

  it('limits size, time and number of requests, and can be cancelled', async () => {
    expect(await codeOf(open(), `${base}/big`)).to.equal('http_too_large');
    expect(await codeOf(open(), `${base}/slow`, { timeoutMs: 50 })).to.equal('http_timeout');
    const client = open({ concurrency: 1 });
    const control = new AbortController();
    const slow = codeOf(client, `${base}/slow`, { signal: control.signal });
    expect(await codeOf(client, base)).to.equal('http_busy');
    control.abort(new Error('enough'));
    expect(await slow).to.not.equal('200');
    expect(await codeOf(client, base)).to.equal('200');
  });

  it('recognises addresses and host names', () => {
    const guard = new AddressGuard(['10.1.0.0/16', '192.168.1.5']);
    const reachable = ['8.8.8.8', '2606:4700::1111', '10.1.2.3', '192.168.1.5'];
    const not = [
      '10.2.0.1',
      '192.168.1.6',
      '172.31.0.1',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '::1',
      'fe80::1',
      'fd00::1',
      '::ffff:10.2.2.3',
      '64:ff9b::a00:1',
      'x',
    ];
    expect([...reachable, ...not].filter((address) => guard.mayReach(address))).to.deep.equal(reachable);
    const hosts = new HostGuard(['api.example.com', '*.example.org']);
    const names = [
      'api.example.com',
      'API.example.com.',
      'a.example.org',
      'example.org',
      'evilexample.org',
      'example.com',
    ];
    expect(names.filter((name) => hosts.mayAsk(name))).to.deep.equal(names.slice(0, 3));
    expect(() => new AddressGuard(['10.0.0.0/33'])).to.throw(AllowListError);
    expect(() => new HostGuard(['http://a'])).to.throw(AllowListError);
  });
});

describe('component http', () => {
  const ask = (block: string, answer: Value) => play(block, { http: { 'GET https://api.example.com/a': answer } });
  const GET = `
      http: https://api.example.com/a
      exits: { next: end, refused: end, error: end }`;

  it('returns the response as text and as value', async () => {
    const { exit, result } = await ask(GET, { json: { a: [1] } });
    expect(exit).to.equal('next');
    expect(result).to.deep.include({ status: 200, body: '{"a":[1]}', json: { a: [1] } });
  });

  it('leaves by refused for a status of 400 and above, by error without a response', async () => {
    expect(await ask(GET, 404)).to.deep.include({ exit: 'refused', error: undefined });
    expect(await ask(GET, { error: 'http_timeout' })).to.deep.include({ exit: 'error', error: 'http_timeout' });
  });

  it('sends a body other than a text as JSON', async () => {
    const bodies: unknown[] = [];
    const services = servicesWith({
      http: {
        request: async ({ body, headers }) => {
          bodies.push([body, headers['content-type']]);
          return { status: 204, headers: {}, body: '' };
        },
      },
    });
    await play(
      `
      http: { url: "https://a.b/", method: POST, body: { n: 1 } }
      next: end`,
      { services },
    );
    await play(
      `
      http: { url: "https://a.b/", method: POST, body: plain }
      next: end`,
      { services },
    );
    expect(bodies).to.deep.equal([
      ['{"n":1}', 'application/json'],
      ['plain', undefined],
    ]);
  });
});
