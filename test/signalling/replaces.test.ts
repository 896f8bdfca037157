import { expect } from 'chai';
import { namesDialog, parseReplaces } from '../../runtime/signalling/replaces.ts';

const parsed = (value: string) => parseReplaces(value) ?? expect.fail(`${value} is not understood`);

describe('Replaces', () => {
  it('has a Call-ID and one tag of each side, in any order and case (RFC 3891 section 6.1)', () => {
    expect(parsed('98732@sip.example.com;from-tag=r33th4x0r;to-tag=ff87ff')).to.deep.equal({
      callId: '98732@sip.example.com',
      toTag: 'ff87ff',
      fromTag: 'r33th4x0r',
      earlyOnly: false,
    });
    expect(parsed(' abc ; To-Tag = 1 ; from-tag=2 ; Early-Only ')).to.deep.equal({
      callId: 'abc',
      toTag: '1',
      fromTag: '2',
      earlyOnly: true,
    });
  });

  it('without one of them, with two, or with several values, is refused', () => {
    const bad = ['', ';to-tag=1;from-tag=2', 'abc', 'abc;to-tag=1', 'abc;from-tag=2', 'abc;to-tag=;from-tag=2'];
    bad.push('abc;to-tag=1;to-tag=1;from-tag=2', 'a b;to-tag=1;from-tag=2', 'abc;to-tag=1;from-tag=2,d;to-tag=1');
    for (const value of bad) expect(parseReplaces(value), value).to.equal(undefined);
  });

  it('names the dialog whose local tag is to-tag and whose remote tag is from-tag (section 3)', () => {
    const replaces = parsed('abc;to-tag=1;from-tag=2');
    expect(namesDialog(replaces, { local: '1', remote: '2' })).to.equal(true);
    for (const tags of [
      { local: '2', remote: '1' },
      { local: '1', remote: '3' },
      { local: '3', remote: '2' },
      { local: '1', remote: '' },
    ]) {
      expect(namesDialog(replaces, tags)).to.equal(false);
    }
  });

  it('with tag zero names a dialog without a tag, as RFC 2543 phones have', () => {
    const replaces = parsed('abc;to-tag=1;from-tag=0');
    expect(namesDialog(replaces, { local: '1', remote: '' })).to.equal(true);
    expect(namesDialog(replaces, { local: '1', remote: '0' })).to.equal(true);
    expect(namesDialog(replaces, { local: '1', remote: '2' })).to.equal(false);
  });
});
