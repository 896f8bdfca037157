import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';

const PAGE = new URL('../../docs/operating/security.md', import.meta.url);
const PACKAGE = new URL('../../package.json', import.meta.url);

describe('the parts list', () => {
  it('is made by the command of the page, and has every package that the project names', async function () {
    this.timeout(60_000);
    const [, command = ''] = /^(npm sbom .*) > sbom\.json$/m.exec(await readFile(PAGE, 'utf8')) ?? [];
    const [program = '', ...args] = command.split(' ');
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024 });
    const { components } = JSON.parse(stdout) as { components: { group?: string; name: string; version: string }[] };
    const listed = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`));
    const { dependencies } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { dependencies: Record<string, string> };
    expect(listed.map((name) => name.split('/').at(-1))).to.include.members(
      Object.keys(dependencies).map((name) => name.split('/').at(-1)),
    );
  });
});
