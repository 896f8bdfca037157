import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RingingInvite, RingingJournal } from '../../runtime/signalling/ringing-journal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const invite = (transaction: string, at = Date.now()): RingingInvite => ({
  transaction,
  uri: 'sip:bob@192.0.2.1:5062',
  via: 'SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKx',
  from: '<sip:alice@example.com>;tag=1',
  to: '<sip:bob@example.com>',
  callId: transaction,
  cseq: 1,
  at,
});

describe('journal of ringing phones', () => {
  const folder = temporaryFolder({ each: true });
  let file: string;
  beforeEach(async () => {
    file = join(folder, 'data', 'ringing.jsonl');
  });

  const left = (): string[] => {
    const journal = RingingJournal.open(file);
    journal.close();
    return journal.ringing.map(({ transaction }) => transaction);
  };

  it('contains the INVITEs that were ringing at a crash, and no settled ones', async () => {
    const journal = RingingJournal.open(file);
    expect(journal.ringing).to.deep.equal([]);
    journal.sent(invite('a'));
    journal.sent(invite('b'));
    journal.sent(invite('old', Date.now() - 3_700_000));
    journal.settled('a');
    journal.settled('never sent');
    // Killed in the middle of a line.
    await appendFile(file, '{"sent":{"transac');
    expect(left()).to.deep.equal(['b']);
    expect(left()).to.deep.equal(['b']);
    journal.close();
    journal.sent(invite('after the end'));
    expect(left()).to.deep.equal(['b']);
  });

  it('stays small after any number of INVITEs', async () => {
    const journal = RingingJournal.open(file);
    journal.sent(invite('rings all the while'));
    for (let i = 0; i < 5000; i += 1) {
      journal.sent(invite(String(i)));
      journal.settled(String(i));
    }
    expect((await readFile(file)).length).to.be.below(1_100_000);
    expect(left()).to.deep.equal(['rings all the while']);
    journal.close();
  });
});
