import { expect } from 'chai';
import { author } from './author.ts';
import { calls } from './calls.ts';
import { drainAndCopy } from './drain-and-copy.ts';
import { operator } from './operator.ts';
import { Reader } from './reader.ts';
import { rest } from './rest.ts';
import { tour } from './tour.ts';

describe('the commands of the pages', function () {
  this.timeout(180_000);
  let reader: Reader | undefined;
  const here = (): Reader => {
    if (reader === undefined) throw new Error('no reader yet');
    return reader;
  };

  before('a reader with a machine', async function () {
    // Run with the peers, which some blocks need.
    if (process.env['RINGMASTER_WITHOUT_PEERS'] === '1') this.skip();
    reader = await Reader.come();
  });
  after('the reader leaves', async () => reader?.leave());

  it('are given with a Node.js of the reader, in continuous integration with version 20', async () => {
    const [, major] = /^v(\d+)\./.exec(await here().shell('node --version')) ?? [];
    if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') expect(major).to.equal('20');
    else expect(Number(major)).to.be.at.least(20);
  });
  tour(here);
  rest(here);
  describe('calls', () => calls(here));
  describe('authors', () => author(here));
  describe('a node', () => drainAndCopy(here));
  describe('an operator', () => operator(() => here().blocks));

  describe('together', () => {
    it('are all run by these tests, or listed with the reason why not', () => {
      expect(here().blocks.forgotten()).to.deep.equal([]);
    });
  });
});
