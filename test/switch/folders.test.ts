import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect } from 'chai';

const ROOM = 'runtime/switch';
const IMPORT = /\bfrom '(\.[^']+)'/g;

/** The folders of the switch in the order of docs/architecture.md: what imports nothing of the others comes first. */
function documentedFolders(): string[] {
  const [, section = ''] = readFileSync('docs/architecture.md', 'utf8').split('## The switch\n');
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, folder = '']) => folder);
}

describe('folders of the switch', () => {
  const folders = documentedFolders();

  it('are all described in docs/architecture.md', () => {
    const there = readdirSync(ROOM, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders).to.have.members(there.map(({ name }) => name));
  });

  for (const [index, folder] of folders.entries()) {
    it(`${folder} imports only from folders listed before it`, () => {
      const later = folders.slice(index + 1).map((name) => `${ROOM}/${name}`);
      for (const file of readdirSync(join(ROOM, folder))) {
        const imported = [...readFileSync(join(ROOM, folder, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
          posix.dirname(posix.join(ROOM, folder, path)),
        );
        expect(imported, file).not.to.include.oneOf(later);
      }
    });
  }
});
