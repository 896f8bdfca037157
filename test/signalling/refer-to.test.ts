import { expect } from 'chai';
import { parseReferTo } from '../../runtime/signalling/refer-to.ts';

describe('Refer-To', () => {
  it('names a number', () => {
    expect(parseReferTo('<sip:103@demo.local>')).to.deep.equal({
      user: '103',
      host: 'demo.local',
      replaces: undefined,
      method: 'INVITE',
    });
    expect(parseReferTo('"Carol" <sip:%2A70@demo.local;user=phone>')).to.deep.equal({
      user: '*70',
      host: 'demo.local',
      replaces: undefined,
      method: 'INVITE',
    });
  });

  it('names a dialog to replace (RFC 3891)', () => {
    const header = '<sip:103@demo.local?Replaces=abc%40h%3Bto-tag%3D1%3Bfrom-tag%3D2&X=1>';
    const replaces = { callId: 'abc@h', toTag: '1', fromTag: '2', earlyOnly: false };
    expect(parseReferTo(header)).to.deep.equal({ user: '103', host: 'demo.local', replaces, method: 'INVITE' });
  });

  it('names a method', () => {
    expect(parseReferTo('<sip:103@demo.local;method=bye>')).to.include({ user: '103', method: 'BYE' });
  });

  it('is undefined without a target, with an invalid dialog, or with bad escapes', () => {
    const replacing = (value: string) => `<sip:103@demo.local?Replaces=${value}>`;
    for (const header of ['', 'nonsense', '<sip:demo.local>', replacing('%FF'), replacing('abc%40h%3Bto-tag%3D1')]) {
      expect(parseReferTo(header), header).to.equal(undefined);
    }
  });
});
