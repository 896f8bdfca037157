import { mock } from 'node:test';
import { expect } from 'chai';
import { pidf, readPidf } from '../../../runtime/switch/subscriptions/pidf.ts';
import { Publications } from '../../../runtime/switch/subscriptions/publications.ts';

describe('a presence document', () => {
  it('of another client is read, and made anew from what is known of it', () => {
    const state = readPidf(
      '<p:presence xmlns:p="urn:ietf:params:xml:ns:pidf" xmlns:e="urn:x"><p:tuple id="a"><p:status><p:basic> OPEN </p:basic></p:status>' +
        '<p:note xml:lang="en">Back &lt;soon&gt;</p:note><e:x><script/></e:x></p:tuple>' +
        '<r:activities><r:away/><r:away/><r:nonsense/></r:activities></p:presence>',
    );
    expect(state).to.deep.equal({ open: true, note: 'Back <soon>', activities: ['away'] });
    const text = pidf('sip:102@demo.local', [state ?? { open: false, note: '', activities: [] }]);
    expect(text).to.include('<note>Back &lt;soon&gt;</note>').and.include('<rpid:away/>').and.not.include('script');
    expect(readPidf(text)).to.deep.equal(state);
  });

  for (const text of ['', 'open', '<presence/>', '<presence><basic>perhaps</basic></presence>', '<basic>open</basic>'])
    it(`is not "${text}"`, () => {
      expect(readPidf(text)).to.equal(undefined);
    });

  it('with a great number of broken elements is read in no time', () => {
    const start = performance.now();
    const text = `<presence><basic>open</basic>${'<note '.repeat(2000)}${'<activities>'.repeat(300)}`;
    expect(readPidf(text)).to.deep.include({ open: true, activities: [] });
    expect(performance.now() - start).to.be.lessThan(2000);
  });
});

describe('publications', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('last for their time, and are changed by the tag of the last one', () => {
    const changes: string[] = [];
    const publications = new Publications<string>((owner) => changes.push(owner));
    const tagOf = (made: ReturnType<typeof publications.publish>): string =>
      typeof made === 'string' ? made : made.tag;
    const first = tagOf(publications.publish('bob', undefined, 'away', 60));
    publications.publish('bob', undefined, 'here', 120);
    expect(publications.of('bob')).to.deep.equal(['away', 'here']);
    mock.timers.tick(59_000);
    const second = tagOf(publications.publish('bob', first, undefined, 60));
    expect(publications.publish('bob', first, 'x', 60)).to.equal('unknown');
    expect(publications.publish('alice', second, 'x', 60), 'of another owner').to.equal('unknown');
    expect(publications.publish('bob', undefined, undefined, 60)).to.equal('empty');
    mock.timers.tick(61_000);
    expect(publications.of('bob')).to.deep.equal([]);
    expect(changes).to.deep.equal(['bob', 'bob', 'bob', 'bob', 'bob']);
  });

  it('are bounded for an owner, who may still change them', () => {
    const publications = new Publications<number>(() => undefined);
    const made = Array.from({ length: 11 }, (_, at) => publications.publish('bob', undefined, at, 60));
    expect(made.at(-1)).to.equal('full');
    const [first] = made;
    if (typeof first !== 'object') throw new Error('not published');
    expect(publications.publish('bob', first.tag, 1, 0)).to.have.property('tag');
    expect(publications.publish('bob', undefined, 1, 60)).to.have.property('tag');
    publications.close();
    expect(publications.count).to.equal(0);
  });
});
