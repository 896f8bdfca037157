import { expect } from 'chai';
import { type Reply, RestNode } from './support/rest-node.ts';

describe('the first page and the documentation', () => {
  let node: RestNode;
  before(async () => {
    node = await RestNode.start();
  });
  after(() => node.close());

  const browse = (path: string): Promise<Reply> => node.call('GET', path, { headers: { accept: 'text/html,*/*' } });
  const links = ({ text }: Reply): string[] => [...text.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path ?? '');

  it('leads a browser to the documentation, the API reference and the health, and every link works', async () => {
    const page = await browse('/');
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(links(page)).to.include.members(['/rest/v1/docs', '/healthz', '/docs/operating/README.md']);
    for (const path of links(page)) {
      const { status, text } = await browse(path);
      expect(status, `${path}: ${text}`).to.equal(200);
    }
  });

  it('asks no other server for anything, and runs no script', async () => {
    for (const path of ['/', '/docs/operating/README.md']) {
      const page = await browse(path);
      expect(page.headers.get('content-security-policy')).to.match(
        /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; /,
      );
      expect(page.text).to.not.match(/<script|src=|href="https?:|@import|url\(/);
    }
  });

  it('answers programs such as curl with plain text', async () => {
    for (const path of ['/', '/docs/operating/README.md']) {
      const answer = await node.call('GET', path, { headers: { accept: '*/*' } });
      expect(answer.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
      expect(answer.text).to.not.contain('<a ');
    }
  });

  it('has every page that another page links to', async () => {
    const seen = new Set<string>();
    for (const waiting = ['/docs/operating/README.md']; waiting.length > 0; ) {
      const path = waiting.pop() ?? '';
      if (seen.has(path)) continue;
      seen.add(path);
      const page = await browse(path);
      expect(page.status, path).to.equal(200);
      waiting.push(...links(page).filter((link) => link.startsWith('/docs/')));
    }
    expect(seen.size).to.be.above(10);
  });

  it('has no other file', async () => {
    for (const path of [
      '../package.json',
      '..%2fpackage.json',
      '%2e%2e/README.md',
      'operating',
      'none.md',
      'a/../../README.md',
    ]) {
      const { status } = await browse(`/docs/${path}`);
      expect(status, path).to.equal(404);
    }
  });
});
