import { expect } from 'chai';
import { readSubscribe } from '../../runtime/signalling/index.ts';

const GOOD: Readonly<Record<string, string>> = {
  Event: 'dialog;id=7;x=1',
  From: '"B" <sip:102@demo.local>;tag=f1',
  To: '<sip:101@demo.local>',
  Contact: '"Bob" <sip:102@192.0.2.1:5062;transport=tcp>;expires=1',
  'Call-ID': 'c1',
  CSeq: '4 SUBSCRIBE',
};

function read(headers: Readonly<Record<string, string | undefined>>, body = ''): ReturnType<typeof readSubscribe> {
  const all: Readonly<Record<string, string | undefined>> = { ...GOOD, ...headers };
  return readSubscribe({ body, get: (name) => all[name] });
}

describe('a SUBSCRIBE', () => {
  it('is read', () => {
    const accept = 'application/dialog-info+xml;q=1, Text/Plain';
    const routes = '<sip:192.0.2.9;lr>, <sip:192.0.2.8;lr>';
    expect(read({ Expires: ' 600 ', Accept: accept, 'Record-Route': routes })).to.deep.equal({
      event: 'dialog',
      eventId: '7',
      expires: 600,
      accept: ['application/dialog-info+xml', 'text/plain'],
      callId: 'c1',
      cseq: 4,
      from: GOOD['From'],
      to: GOOD['To'],
      fromTag: 'f1',
      toTag: '',
      contact: 'sip:102@192.0.2.1:5062;transport=tcp',
      routes: ['sip:192.0.2.9;lr', 'sip:192.0.2.8;lr'],
    });
  });

  it('may have the compact form of Event, no Expires, and a tag in To', () => {
    const found = read({ Event: undefined, o: 'Presence', To: '<sip:101@demo.local>;tag=t1' });
    expect(found).to.deep.include({ event: 'presence', eventId: '', expires: undefined, toTag: 't1' });
  });

  for (const [what, headers, status] of [
    ['no Event', { Event: undefined }, 489],
    ['words in Event', { Event: 'one two' }, 489],
    ['an endless Event', { Event: 'x'.repeat(500) }, 489],
    ['a negative Expires', { Expires: '-5' }, 400],
    ['a word in Expires', { Expires: 'never' }, 400],
    ['a list in Expires', { Expires: '60, 60' }, 400],
    ['no Contact', { Contact: undefined }, 400],
    ['Contact *', { Contact: '*' }, 400],
    ['no URI in Contact', { Contact: '<http://x>' }, 400],
    ['no tag in From', { From: '<sip:102@demo.local>' }, 400],
  ] as const)
    it(`with ${what} is refused with ${status}`, () => {
      expect(read(headers)).to.have.nested.property('refusal.status', status);
    });

  it('with a huge body is refused with 413', () => {
    expect(read({}, 'x'.repeat(20_000))).to.deep.equal({ refusal: { status: 413 } });
  });

  it('with an Expires beyond all numbers has the longest one', () => {
    expect(read({ Expires: '9'.repeat(15) })).to.have.property('expires', 4_294_967_295);
  });
});
