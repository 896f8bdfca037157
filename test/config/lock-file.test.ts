import { expect } from 'chai';
import { readFileSync } from 'node:fs';

interface LockEntry {
  readonly resolved?: string;
  readonly engines?: { readonly node?: string };
}

const LOCK = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, LockEntry>;
};

/** Whether a range such as `^20.19.0 || >=22.12.0` has a part that begins at Node 20 or before, and is open or of Node 20. */
function allowsNode20(range: string): boolean {
  return range.split('||').some((part) => {
    const [, operator = '', major = '0'] = /^\s*(>=|>|\^|~)?\s*v?(\d+)/.exec(part) ?? [];
    return operator.startsWith('>') ? Number(major) <= 20 : Number(major) === 20;
  });
}

describe('the lock file', () => {
  // Node 20 only installs them; the project's own Node.js runs them.
  it('has no package with an npm warning on Node 20 (EBADENGINE)', () => {
    const refused = Object.entries(LOCK.packages)
      .filter(([, { engines }]) => engines?.node !== undefined && !allowsNode20(engines.node))
      .map(([name, { engines }]) => `${name}: remove "engines" (${engines?.node})`);
    expect(refused).to.deep.equal([]);
  });

  it('names no registry', () => {
    expect(Object.entries(LOCK.packages).filter(([, { resolved }]) => resolved?.startsWith('http'))).to.deep.equal([]);
  });
});
