import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CallJournal } from '../../runtime/history/journal.ts';
import { temporaryFolders } from '../storage/support/storages.ts';
import { endedCall, liveCall } from './facts.ts';

const LIMIT = 1_000_000;

describe('the journal of calls', () => {
  const folders = temporaryFolders();
  after(() => folders.removeAll());
  let file: string;
  beforeEach(() => {
    file = join(folders.make(), 'calls.jsonl');
  });

  const ids = (journal: CallJournal): string[] => journal.next(100).map(({ id }) => id);

  it('keeps ended calls until the database has them, also over a kill', () => {
    const first = CallJournal.open(file, LIMIT);
    for (const id of ['1', '2', '3']) {
      first.going(liveCall(id));
      first.over(endedCall(id));
    }
    first.done(['2']);
    expect(ids(first)).to.deep.equal(['1', '3']);
    // Not closed: the process was killed.
    const second = CallJournal.open(file, LIMIT);
    expect(second.next(1)).to.deep.equal([endedCall('1')]);
    expect(second.waiting).to.equal(2);
    second.done(['1', '3']);
    expect(CallJournal.open(file, LIMIT).waiting).to.equal(0);
  });

  it('keeps the figures that come after the end of a call, also over a kill', () => {
    const figures = {
      codec: 'PCMU',
      packetsIn: 500,
      packetsOut: 499,
      lostIn: 3,
      jitterMsIn: 1.5,
      mosIn: 4.4,
      lostOut: null,
      jitterMsOut: null,
    };
    const first = CallJournal.open(file, LIMIT);
    for (const id of ['1', '2']) first.over(endedCall(id));
    first.media('1', [figures, null]);
    first.media('unknown', [null]);
    const counted = endedCall('1', { media: [figures, null] });
    expect(first.next(9)).to.deep.equal([counted, endedCall('2')]);
    expect(first.next(9, (id) => id !== '1')).to.deep.equal([endedCall('2')]);
    expect(CallJournal.open(file, LIMIT).next(9)).to.deep.equal([counted, endedCall('2')]);
  });

  it('ends calls that went on at a kill as lost, with what was known of them', () => {
    const first = CallJournal.open(file, LIMIT);
    first.going(liveCall('1'));
    first.going(liveCall('1', { answered: 7 }));
    first.over(endedCall('0'));
    const [lost, ended] = CallJournal.open(file, LIMIT, { now: 123 }).next(9);
    expect(ended).to.deep.equal(endedCall('0'));
    expect(lost).to.deep.equal(
      liveCall('1', { answered: 7, end: { at: 123, by: 'lost', status: null, reason: null } }),
    );
  });

  it('loses only a line that was cut off by a kill', () => {
    const first = CallJournal.open(file, LIMIT);
    first.over(endedCall('1'));
    appendFileSync(file, '{"call":{"id":"2","dia');
    expect(ids(CallJournal.open(file, LIMIT))).to.deep.equal(['1']);
  });

  it('refuses ended calls beyond its limit, and takes them again when there is room', () => {
    const size = JSON.stringify({ call: endedCall('1') }).length + 1;
    const journal = CallJournal.open(file, 2 * size);
    const taken = ['1', '2', '3'].map((id) => {
      journal.going(liveCall(id));
      return journal.over(endedCall(id));
    });
    expect(taken).to.deep.equal([true, true, false]);
    expect(ids(CallJournal.open(file, LIMIT)), 'and the refused one is not lost at a restart').to.deep.equal([
      '1',
      '2',
    ]);
    journal.done(['1']);
    expect(journal.over(endedCall('4'))).to.equal(true);
  });

  it('does not grow with the calls that the database has', () => {
    const journal = CallJournal.open(file, LIMIT);
    journal.over(endedCall('stays'));
    journal.going(liveCall('lives'));
    for (let n = 0; n < 3000; n += 1) {
      journal.going(liveCall(`${n}`));
      journal.over(endedCall(`${n}`));
      journal.done([`${n}`]);
    }
    expect(statSync(file).size).to.be.below(1_100_000);
    expect(readFileSync(file, 'utf8')).to.contain('"stays"').and.contain('"lives"');
    journal.close();
  });

  it('keeps a call in memory when the file cannot be written', () => {
    const journal = CallJournal.open(file, LIMIT);
    journal.close();
    journal.over(endedCall('1'));
    expect(ids(journal)).to.deep.equal(['1']);
  });
});
