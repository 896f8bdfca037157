import { expect } from 'chai';
import fc from 'fast-check';
import { Topology, type TopologyCommand, TopologyError } from '../../runtime/conference/topology.ts';

const PEOPLE = ['a', 'b', 'c', 'd'];
/** Is still being called: not among all, and can be named. */
const CALLED = 'e';
const exists = (id: string) => id === CALLED || PEOPLE.includes(id);
const id = fc.constantFrom('*', ...PEOPLE, CALLED);
const command = fc
  .record({ from: id, to: id, enabled: fc.boolean() })
  .filter(({ from, to }) => from !== to || from === '*');

describe('topology', () => {
  it('equals the last command for each pair; reported changes are exactly the differences', () => {
    fc.assert(
      fc.property(fc.array(fc.array(command, { maxLength: 8 }), { maxLength: 6 }), (batches) => {
        const topology = new Topology();
        const heard = new Map<string, boolean>();
        for (const commands of batches) {
          const before = new Map(heard);
          for (const { from, to, enabled } of commands) {
            for (const speaker of from === '*' ? PEOPLE : [from])
              for (const listener of to === '*' ? PEOPLE : [to])
                if (speaker !== listener) heard.set(`${speaker} ${listener}`, enabled);
          }
          const changes = topology.apply(commands, PEOPLE, exists);
          const differing = [...heard].filter(([pair, enabled]) => (before.get(pair) ?? true) !== enabled);
          expect(changes.map(({ from, to, enabled }) => [`${from} ${to}`, enabled])).to.have.deep.members(differing);
        }
        for (const [pair, enabled] of heard) {
          const [speaker = '', listener = ''] = pair.split(' ');
          expect(topology.hears(listener, speaker), pair).to.equal(enabled);
        }
        const parted = [...heard].filter(([, enabled]) => !enabled).map(([pair]) => pair);
        const [first, ...others] = topology.entries();
        expect(first).to.deep.equal({ from: '', to: '', enabled: true });
        expect(others.map(({ from, to }) => `${from} ${to}`)).to.have.members(parted);
      }),
    );
  });

  it('accepts its own entries unchanged', () => {
    const topology = new Topology();
    topology.apply([{ from: 'a', to: '*', enabled: false }], PEOPLE, exists);
    expect(topology.apply(topology.entries(), PEOPLE, exists)).to.deep.equal([]);
    expect(topology.entries()).to.have.length(4);
  });

  it('executes the largest permitted list of commands, each for all, in bounded time', function () {
    this.timeout(5000);
    const crowd = Array.from({ length: 200 }, (_, index) => `p${index}`);
    const commands = Array.from({ length: 10_000 }, (_, index) => ({ from: '*', to: '*', enabled: index % 2 === 0 }));
    expect(new Topology().apply(commands, crowd, () => true)).to.have.length(200 * 199);
  });

  it('drops a departed participant in both directions', () => {
    const topology = new Topology();
    topology.apply([{ from: '*', to: '*', enabled: false }], PEOPLE, exists);
    expect(topology.partedFrom('a')).to.have.length(6);
    for (const person of PEOPLE) topology.forget(person);
    expect(topology.open).to.equal(true);
  });

  for (const [what, bad, field] of [
    ['an unknown speaker', { from: 'x', to: 'a', enabled: false }, '1.from'],
    ['an unknown listener', { from: 'a', to: 'x', enabled: false }, '1.to'],
    ['a speaker without a listener', { from: 'a', to: '', enabled: false }, '1.to'],
    ['somebody towards himself', { from: 'a', to: 'a', enabled: false }, '1.to'],
    ['the first entry', { from: '', to: '', enabled: false }, '1.enabled'],
  ] as const) {
    it(`refuses ${what}, without effect`, () => {
      const topology = new Topology();
      const commands: TopologyCommand[] = [{ from: 'a', to: 'b', enabled: false }, bad];
      expect(() => topology.apply(commands, PEOPLE, exists))
        .to.throw(TopologyError)
        .with.property('field', field);
      expect(topology.open).to.equal(true);
    });
  }
});
