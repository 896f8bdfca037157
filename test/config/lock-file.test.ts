import { expect } from 'chai';
import { readFileSync } from 'node:fs';

interface LockEntry {
  readonly resolved?: string;
  readonly engines?: { readonly node?: string };
}

const LOCK = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, LockEntry>;
};

/** The first releases of what the README promises: Node 20 and each long-term release after it. */
const PROMISED = [20, 22, 24].map((major) => [major, 0, 0] as const);

/** Whether a range such as `^20.19.0 || >=22.12.0` accepts a version. */
function accepts(range: string, [major, minor, patch]: readonly [number, number, number]): boolean {
  if (range === '*') return true;
  return range.split('||').some((part) => {
    const [, operator = '', from = '0', ...rest] =
      /^\s*(>=|>|\^|~)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(part) ?? [];
    if (major !== Number(from)) return operator.startsWith('>') && major > Number(from);
    const [leastMinor = 0, leastPatch = 0] = rest.map((digits: string | undefined) => Number(digits ?? 0));
    return minor > leastMinor || (minor === leastMinor && patch >= leastPatch);
  });
}

describe('the lock file', () => {
  // These Node.js releases only install the packages; the project's own runs them.
  it('has no package with an npm warning (EBADENGINE) on Node 20, 22 or 24', () => {
    const refused = Object.entries(LOCK.packages).filter(
      ([, { engines }]) => !PROMISED.every((version) => accepts(engines?.node ?? '>=0', version)),
    );
    expect(refused.map(([name, { engines }]) => `${name}: remove "engines" (${engines?.node})`)).to.deep.equal([]);
  });

  it('names no registry', () => {
    expect(Object.entries(LOCK.packages).filter(([, { resolved }]) => resolved?.startsWith('http'))).to.deep.equal([]);
  });
});
