import { existsSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';

const ROOT = path.resolve(import.meta.dirname, '../..');

async function filesOf(pattern: string): Promise<readonly string[]> {
  const exclude = (name: string): boolean => name === 'node_modules' || name === 'data';
  return Array.fromAsync(glob(pattern, { cwd: ROOT, exclude }));
}

/** The text of a page without its code, in which nothing is a link. */
function prose(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8').replaceAll(/^```[^]*?^```|`[^`\n]*`/gm, (code) =>
    code.startsWith('```') ? '' : code.replaceAll(/[[\]]/g, ''),
  );
}

/** The anchors of a page, as GitHub makes them of its headings; a repeated one gets a number. */
function anchors(file: string): ReadonlySet<string> {
  const found = new Map<string, number>();
  const names = [...prose(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const name = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const before = found.get(name) ?? 0;
    found.set(name, before + 1);
    return before === 0 ? name : `${name}-${before}`;
  });
  return new Set(names);
}

describe('the Markdown pages', () => {
  it('link to files and headings that exist', async () => {
    const broken: string[] = [];
    const pages = await filesOf('**/*.md');
    for (const page of pages) {
      for (const [, link = ''] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(link)) continue;
        const [name = '', anchor] = link.split('#');
        const target = name === '' ? page : path.join(path.dirname(page), name);
        const exists = existsSync(path.join(ROOT, target));
        if (!exists || (anchor !== undefined && !anchors(target).has(anchor))) broken.push(`${page}: ${link}`);
      }
    }
    expect(broken).to.deep.equal([]);
    expect(pages.length).to.be.greaterThan(80);
  });

  it('are named in the source by paths that exist', async () => {
    const broken: string[] = [];
    for (const file of await filesOf('{runtime,components,rest-bridge,freeswitch-config,test}/**/*.{ts,mjs,yaml}')) {
      const text = readFileSync(path.join(ROOT, file), 'utf8');
      for (const [name] of text.matchAll(/\bdocs\/[a-z0-9/-]+\.md\b/g))
        if (!existsSync(path.join(ROOT, name))) broken.push(`${file}: ${name}`);
    }
    expect(broken).to.deep.equal([]);
  });
});
