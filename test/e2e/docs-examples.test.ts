import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { TestNode } from '../support/node.ts';
import { disposableFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

/** The shell examples of a page up to a heading, without streams and programs. */
function examplesOf(page: string, until?: string): string {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const part = until === undefined ? text : text.slice(0, text.indexOf(`\n${until}\n`));
  return [...part.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block = '']) => block)
    .filter((block) => !/curl -s -N|npx /.test(block))
    .join('\n');
}

/** Runs every request, and reports the refused ones. */
const PRELUDE = `
refused=$(mktemp)
curl() {
  out=$(command curl --max-time 20 -w '\\n%{http_code}' "$@") || { echo "curl failed: $*" >>"$refused"; return; }
  status=$(printf %s "$out" | tail -n 1)
  [ "$status" -lt 400 ] || printf '%s: %s\\n' "$*" "$out" >>"$refused"
  printf '%s\\n' "$out" | sed '$d'
}
`;

describe('the examples of the documentation', () => {
  it('of REST and the data model succeed in their order', async function () {
    this.timeout(120_000);
    await using folder = await disposableFolder();
    const node = await TestNode.start();
    try {
      for (const name of ['me.png', 'contract.pdf', '1.png', '2.png']) await writeFile(join(folder.path, name), name);
      const pages = ['sessions', 'collections', 'providers', 'webhooks', 'scripts'].map((page) =>
        examplesOf(`rest/${page}.md`),
      );
      pages.push(examplesOf('rest/recordings.md', '## The archive'), examplesOf('model.md'));
      const examples = pages.join('\n');
      const script = `${PRELUDE}${examples}\ncat "$refused" >&2\n`.replaceAll('http://127.0.0.1:8080', node.base);
      expect(examples.match(/\bcurl /g)?.length).to.be.greaterThan(50);
      const { stdout, stderr } = await run('bash', ['-c', script], { cwd: folder.path, maxBuffer: 1 << 24 });
      expect(stderr).to.equal('');
      expect(stdout).to.include('"login":"admin"').and.include('{"b":2}');
    } finally {
      await node.remove();
    }
  });
});
