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

  it('is the console for a browser, and has links that work for one without JavaScript', async () => {
    const page = await browse('/');
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(links(page)).to.include.members(['/rest/v1/docs', '/healthz', '/docs/operating/README.md']);
    for (const path of [...links(page), '/console/main.js', '/console/main.css']) {
      const { status, text } = await browse(path);
      expect(status, `${path}: ${text}`).to.equal(200);
    }
  });

  it('asks no other server for anything, and runs no inline script', async () => {
    const page = await browse('/');
    expect(page.headers.get('content-security-policy')).to.match(
      /^default-src 'none'; script-src 'self'; style-src 'self'; /,
    );
    expect(page.text).to.not.match(
      /<script(?! type="module" src="\/console\/main\.js"><\/script>)|<style|style=|"https?:/,
    );
    const docs = await browse('/docs/operating/README.md');
    expect(docs.headers.get('content-security-policy')).to.match(/^default-src 'none'; style-src 'sha256-[\w+/]+=*'; /);
    expect(docs.text).to.not.match(/<script|src=|href="https?:|@import|url\(/);
  });

  it('sends files of the console compressed, and not again while they are the same', async () => {
    const headers = { 'accept-encoding': 'br' };
    const first = await node.call('GET', '/console/main.css', { headers });
    expect(first.headers.get('content-encoding')).to.equal('br');
    const tag = first.headers.get('etag') ?? '';
    const again = await node.call('GET', '/console/main.css', { headers: { ...headers, 'if-none-match': tag } });
    expect([again.status, again.text]).to.deep.equal([304, '']);
    for (const path of ['/console/none.js', '/console/..%2fbundle.ts', '/console/main.tsx'])
      expect((await node.call('GET', path)).status, path).to.equal(404);
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
