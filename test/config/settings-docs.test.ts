import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SETTINGS } from '../../runtime/config/config.ts';

describe('the page of settings', () => {
  const page = readFileSync(new URL('../../docs/operating/settings.md', import.meta.url), 'utf8');
  const rows = new Map(
    [...page.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`|-) \|/gm)].map(([, name, value]) => [name, value ?? '']),
  );

  it('names every setting with its default, and no other', () => {
    expect(Object.fromEntries(rows)).to.deep.equal(
      Object.fromEntries(SETTINGS.map(({ name, fallback }) => [name, fallback])),
    );
  });
});
