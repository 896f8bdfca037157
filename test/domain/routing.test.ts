import { expect } from 'chai';
import fc from 'fast-check';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { FeatureCode, RouteDecision, SipUser } from '../../runtime/domain/directory.ts';
import { dialPattern } from '../../runtime/domain/routing/pattern.ts';
import { DomainSpace } from '../../runtime/domain/routing/domain-space.ts';
import type { Route } from '../../runtime/domain/routing/route-table.ts';
import { route } from '../../runtime/domain/routing/route.ts';

const sipuser = (login: string, phonenumber: string): SipUser => ({
  id: `id-${login}`,
  domain: asDomainName('demo.local'),
  login,
  phonenumber,
  name: login,
  userId: undefined,
  ha1: { md5: '', sha256: '' },
});
const featureCode = (prefix: string, type: FeatureCode['type'], opts: FeatureCode['opts'] = {}): FeatureCode => ({
  id: `id-${prefix}`,
  domain: asDomainName('demo.local'),
  prefix,
  type,
  opts,
});
const scenario = (id: string, to: string, code: string, priority = 100, from = '%'): Route => ({
  id,
  priority,
  from,
  to,
  target: { type: 'scenario', code },
});

interface Plan {
  readonly sipusers?: readonly SipUser[];
  readonly featureCodes?: readonly FeatureCode[];
  readonly routes?: readonly Route[];
}

function space({ sipusers = [], featureCodes = [], routes = [] }: Plan): DomainSpace {
  const made = new DomainSpace({ id: 'd', name: asDomainName('demo.local'), isMaster: false, parentId: undefined });
  for (const entry of sipusers) made.putSipUser(entry);
  for (const entry of featureCodes) made.putFeatureCode(entry);
  for (const entry of routes) made.routes.put(entry);
  return made;
}

/** A decision in one line, for tables. */
function short(decision: RouteDecision): string {
  if (decision.kind === 'reject') return `${decision.status} ${decision.reason}`;
  const by = decision.featureCode === undefined ? '' : ` by ${decision.featureCode.prefix}`;
  if (decision.kind === 'sipuser') return `sipuser ${decision.sipuser.login}${by}`;
  if (decision.kind === 'pickup') return `pickup ${decision.number ?? 'any'}${by}`;
  if (decision.kind === 'provider') return `provider ${decision.provider.code}${by}`;
  return decision.kind === 'scenario' ? `scenario ${decision.code}${by}` : `conference ${decision.room}${by}`;
}

describe('routing', () => {
  const demo = space({
    sipusers: [sipuser('alice', '101'), sipuser('bob', '102'), sipuser('103', '777'), sipuser('carol', '103')],
    featureCodes: [featureCode('*80', 'intercom'), featureCode('*70', 'conference'), featureCode('*55', 'ivr')],
    routes: [
      scenario('a', '500', 'menu'),
      scenario('b', '5%', 'any five', 200),
      scenario('c', '101', 'never, a sipuser has this number', 1),
      scenario('d', '0%', 'for bob', 10, '102'),
      { id: 'e', priority: 20, from: '%', to: '0%', target: { type: 'reject', status: 403 } },
      { id: 'f', priority: 20, from: '%', to: '999', target: { type: 'reject', status: 499 } },
    ],
  });
  const cases: readonly [dialled: string, decision: string][] = [
    ['101', 'sipuser alice'],
    ['bob', 'sipuser bob'],
    ['103', 'sipuser carol'],
    ['BOB', '404 Not Found'],
    ['', '404 Not Found'],
    ['500', 'scenario menu'],
    ['512', 'scenario any five'],
    ['0123', '403 Forbidden'],
    ['999', '499 Bad Request'],
    ['*80101', 'sipuser alice by *80'],
    ['*80bob', 'sipuser bob by *80'],
    ['*80500', 'scenario menu by *80'],
    ['*80888', '404 Not Found'],
    ['*80', '404 Not Found'],
    ['*80*70123', '404 Not Found'],
    ['*70123', 'conference 123 by *70'],
    ['*70', 'conference  by *70'],
    ['*70abc', '404 Not Found'],
    ['*55menu', 'scenario menu by *55'],
    ['*55500', 'scenario menu by *55'],
    ['*55', '404 Not Found'],
    ['*5', '404 Not Found'],
  ];
  for (const [dialled, decision] of cases) {
    it(`${JSON.stringify(dialled)} is ${decision}`, () => {
      expect(short(route(demo, '101', dialled))).to.equal(decision);
    });
  }

  it('depends on the caller; platform calls match only routes for every caller', () => {
    expect(short(route(demo, '102', '0123'))).to.equal('scenario for bob');
    expect(short(route(demo, undefined, '0123'))).to.equal('403 Forbidden');
  });

  it('tries the longest prefix first, then shorter ones', () => {
    const nested = space({ featureCodes: [featureCode('*7', 'ivr'), featureCode('*70', 'conference')] });
    expect(short(route(nested, undefined, '*701'))).to.equal('conference 1 by *70');
    expect(short(route(nested, undefined, '*70abc'))).to.equal('scenario 0abc by *7');
  });

  it('runs the scenario of an IVR featurecode without further digits', () => {
    const named = space({ featureCodes: [featureCode('*55', 'ivr', { code: 'welcome' })] });
    expect(short(route(named, undefined, '*55'))).to.equal('scenario welcome by *55');
  });

  it('drops removed entities', () => {
    const changing = space({
      sipusers: [sipuser('alice', '101')],
      featureCodes: [featureCode('*70', 'conference')],
      routes: [scenario('a', '500', 'menu'), scenario('b', '6%', 'six')],
    });
    changing.removeSipUser(sipuser('alice', '101'));
    changing.removeFeatureCode('*70');
    changing.routes.remove('a');
    changing.routes.remove('b');
    for (const dialled of ['101', 'alice', '*701', '500', '60']) {
      expect(short(route(changing, undefined, dialled))).to.equal('404 Not Found');
    }
  });

  it('equals a search of all routes in order of priority and id', () => {
    const pattern = fc.string({ unit: fc.constantFrom('1', '2', '%', '?'), minLength: 1, maxLength: 4 });
    const routes = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1, maxLength: 3 }),
        priority: fc.integer({ min: 0, max: 3 }),
        from: pattern,
        to: pattern,
      }),
      { selector: (entry) => entry.id, maxLength: 12 },
    );
    const number = fc.string({ unit: fc.constantFrom('1', '2'), maxLength: 4 });
    fc.assert(
      fc.property(routes, fc.option(number, { nil: undefined }), number, (plan, from, dialled) => {
        const all = plan.map((entry) => ({
          ...scenario(entry.id, entry.to, entry.id),
          priority: entry.priority,
          from: entry.from,
        }));
        const byPriority = all.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
        const expected = byPriority.find(
          (entry) =>
            dialPattern(entry.to).matches(dialled) &&
            (from === undefined ? entry.from === '%' : dialPattern(entry.from).matches(from)),
        );
        const decision = route(space({ routes: all }), from, dialled);
        expect(short(decision)).to.equal(expected === undefined ? '404 Not Found' : `scenario ${expected.id}`);
      }),
      { numRuns: 1_000, seed: 5 },
    );
  });
});

describe('routing into another domain', () => {
  const other = new DomainSpace({ id: 'o', name: asDomainName('other.local'), isMaster: false, parentId: undefined });
  other.putSipUser({ ...sipuser('zoe', '101'), domain: asDomainName('other.local') });
  other.putFeatureCode(featureCode('*80', 'intercom'));
  other.routes.put(scenario('s', '500', 'menu'));
  other.routes.put({
    id: 'd',
    priority: 1,
    from: '%',
    to: '9%',
    target: { type: 'domain', domain: 'demo.local', strip: 1 },
  });
  const home = space({
    sipusers: [sipuser('alice', '101')],
    featureCodes: [featureCode('*8', 'pickup')],
    routes: [
      { id: 'r', priority: 1, from: '%', to: '6%', target: { type: 'domain', domain: 'other.local', strip: 1 } },
    ],
  });
  const find = (name: string) => ({ 'other.local': other, 'demo.local': home })[name];
  for (const [dialled, what] of [
    ['6101', 'sipuser zoe'],
    ['6500', 'scenario menu'],
    ['6*80101', '404 Not Found'],
    ['6', '404 Not Found'],
    ['69101', '404 Not Found'],
    ['101', 'sipuser alice'],
    ['*8101', 'pickup 101 by *8'],
    ['*8', 'pickup any by *8'],
  ] as const) {
    it(`${dialled} is ${what}`, () => {
      const decision = route(home, '101', dialled, find);
      expect(short(decision)).to.equal(what);
      if (decision.kind === 'scenario') expect(decision.domain).to.equal('other.local');
    });
  }
});
