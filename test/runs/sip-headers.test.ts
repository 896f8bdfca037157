import { expect } from 'chai';
import { checkedHeaders, parseHeaders } from '../../runtime/runs/ports/sip-headers.ts';

describe('additional headers of a call', () => {
  it('are read line by line', () => {
    expect(parseHeaders('X-A: 1\r\nX-B:two: three\r\n\r\nSubject:  Grüße ')).to.deep.equal({
      'X-A': '1',
      'X-B': 'two: three',
      Subject: 'Grüße',
    });
    expect(parseHeaders('')).to.deep.equal({});
  });

  it('are refused when repeated, as only one would be sent', () => {
    expect(() => parseHeaders('X-A: 1\r\nx-a: 2'))
      .to.throw('x-a is there twice')
      .with.property('code', 'not_applicable');
  });

  for (const [name, value] of [
    ['From', '<sip:boss@demo.local>'],
    ['call-id', '1'],
    ['f', '<sip:boss@demo.local>'],
    ['Replaces', 'x'],
    ['P-Asserted-Identity', '<sip:boss@demo.local>'],
    ['Route', '<sip:192.0.2.1>'],
    ['X A', '1'],
    ['', '1'],
    ['X-A', 'a\r\nFrom: <sip:boss@demo.local>'],
    ['X-A', 'a\nb'],
    ['X-A', 'a\u0000'],
  ] as const) {
    it(`may not be ${JSON.stringify(name)}: ${JSON.stringify(value)}`, () => {
      expect(() => checkedHeaders({ [name]: value }))
        .to.throw()
        .with.property('code', 'not_applicable');
    });
  }
});
