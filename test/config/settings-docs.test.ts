import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { readConfig } from '../../runtime/config/config.ts';
import { SETTINGS } from '../../runtime/config/settings.ts';

describe('the page of settings', () => {
  const page = readFileSync(new URL('../../docs/operating/settings.md', import.meta.url), 'utf8');
  const rows = new Map(
    [...page.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`|-) \|/gm)].map(([, name, value]) => [name, value ?? '']),
  );

  it('and all other pages name no setting that the node refuses', () => {
    const root = new URL('../../', import.meta.url).pathname;
    const names = globSync('{*.md,docs/**/*.md,freeswitch-config/*.md,Dockerfile,compose.yaml,docs/**/*.service}', {
      cwd: root,
    }).flatMap((file) =>
      [...readFileSync(`${root}${file}`, 'utf8').matchAll(/\bRINGMASTER_[A-Z_]*[A-Z]\b/g)].map(([name]) => name),
    );
    expect(names.length).to.be.greaterThan(100);
    const unknown = names.filter((name) => {
      try {
        readConfig({ [name]: '' });
        return false;
      } catch {
        return true;
      }
    });
    expect([...new Set(unknown)]).to.deep.equal([]);
  });

  it('names every setting with its default, and no other', () => {
    expect(Object.fromEntries(rows)).to.deep.equal(
      Object.fromEntries(SETTINGS.map(({ name, fallback }) => [name, fallback])),
    );
  });
});
