import { expect } from 'chai';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { type Reply, RestNode } from './support/rest-node.ts';

const PAGE = new URL('../../rest-bridge/phone/page/', import.meta.url);

describe('the page at /phone', () => {
  let node: RestNode;
  let page: Reply;
  before(async () => {
    node = await RestNode.start();
    page = await node.call('GET', '/phone');
  });
  after(() => node.close());

  it('runs scripts of this server only, none of them in the page, and no page frames it', async () => {
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
    expect(policy).to.include.members([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `connect-src 'self' ws://127.0.0.1:${node.port} wss://127.0.0.1:${node.port}`,
      "frame-ancestors 'none'",
    ]);
    expect(page.text).to.not.match(/<script(?![^>]* src="\/phone\/)|<style| style=| on[a-z]+=|https?:/);
  });

  it('takes no foreign text from the Host header into its policy', async () => {
    const host = "x; script-src 'unsafe-inline'";
    const asked = httpRequest({ host: '127.0.0.1', port: node.port, path: '/phone', headers: { host } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.headers['content-security-policy'] ?? '').to.not.include('unsafe');
  });

  it('has every file that it loads, each with its type', async () => {
    const files = readdirSync(PAGE).filter((name) => /^[a-z-]+\.(js|css|svg)$/.test(name));
    expect(files).to.include.members(['app.js', 'phone.css', 'icon.svg']);
    for (const file of [...files, 'jssip.js']) {
      const { status, text, headers } = await node.call('GET', `/phone/${file}`);
      expect(status, file).to.equal(200);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-type')).to.match(/^(text\/(javascript|css)|image\/svg\+xml)/);
      for (const [, name = ''] of text.matchAll(/^import .* from '\.\/([^']+)'/gm))
        expect([...files, 'jssip.js'], `${file} imports ${name}`).to.include(name);
    }
  });

  it('gets JsSIP as one module, compressed, once', async () => {
    const first = await node.call('GET', '/phone/jssip.js');
    expect(first.headers.get('content-encoding')).to.equal('gzip');
    expect(first.text).to.match(/export const \{ C, UA, WebSocketInterface \} = /);
    expect(first.text).to.not.include(process.cwd());
    const etag = first.headers.get('etag') ?? '';
    const again = await node.call('GET', '/phone/jssip.js', { headers: { 'if-none-match': etag } });
    expect(again.status).to.equal(304);
    const plain = await node.call('GET', '/phone/jssip.js', { headers: { 'accept-encoding': 'identity' } });
    expect(plain.text).to.equal(first.text);
  });

  it('suggests accounts and numbers of a node with demo data only', async () => {
    const none = await node.call('GET', '/phone/suggestions.json');
    expect(none.body).to.deep.equal({ accounts: [], numbers: [] });
    const name = asDomainName('demo.local');
    const domain = (asked: string) => (asked === name ? { id: 'd-1', name } : undefined);
    const demo = await RestNode.start({
      directory: { domain, domains: () => [] } as never,
    });
    try {
      const { accounts, numbers } = (await demo.call('GET', '/phone/suggestions.json')).body as Record<
        string,
        object[]
      >;
      expect(accounts?.[0]).to.deep.equal({
        name: 'Alice 101',
        login: 'alice',
        domain: 'demo.local',
        password: 'demo-alice',
      });
      expect(numbers).to.deep.include({ number: '501', about: 'echo' });
    } finally {
      await demo.close();
    }
  });

  it('has no other files', async () => {
    for (const path of [
      'index.html',
      'tsconfig.json',
      'jssip.d.ts',
      '..%2froutes.ts',
      '%2e%2e/routes.ts',
      'none.js',
      'a/b.js',
    ])
      expect((await node.call('GET', `/phone/${path}`)).status, path).to.equal(404);
    const { status, headers } = await node.call('HEAD', '/phone');
    expect(status).to.equal(200);
    expect(headers.get('content-length')).to.not.equal('0');
  });
});
