import { expect } from 'chai';
import { hepPacket } from '../../runtime/ladder/hep.ts';
import { parseHep } from './parse-hep.ts';

const MESSAGE = {
  time: Date.UTC(2026, 10, 25, 12, 0, 0, 123) + 0.456,
  transport: 'udp',
  from: '192.0.2.1:5060',
  to: '198.51.100.7:40000',
  text: 'OPTIONS sip:é@x SIP/2.0\r\n\r\n',
  correlation: 'the-call',
};

describe('HEP 3 packets', () => {
  it('have addresses, time, agent, password, correlation and message', () => {
    const packet = hepPacket(MESSAGE, { id: 2001, password: 'secret' });
    expect(parseHep(packet ?? Buffer.alloc(0))).to.deep.equal({
      family: 2,
      protocol: 17,
      from: '192.0.2.1:5060',
      to: '198.51.100.7:40000',
      seconds: Math.floor(MESSAGE.time / 1000),
      micros: 123_456,
      type: 1,
      agent: 2001,
      password: 'secret',
      correlation: 'the-call',
      text: MESSAGE.text,
    });
  });

  it('leave out what is not known', () => {
    const packet = hepPacket(
      { ...MESSAGE, transport: 'tls', correlation: undefined },
      { id: 4_294_967_295, password: '' },
    );
    const parsed = parseHep(packet ?? Buffer.alloc(0));
    expect(parsed).to.include({ protocol: 6, agent: 4_294_967_295 }).and.not.have.any.keys('password', 'correlation');
  });

  it('take IPv6, and 0.0.0.0 for a name', () => {
    const of = (from: string, to: string) => {
      const packet = hepPacket({ ...MESSAGE, from, to }, { id: 1, password: '' });
      const parsed = parseHep(packet ?? Buffer.alloc(0));
      return [parsed.family, parsed.from, parsed.to];
    };
    expect(of('[2001:db8::1]:5060', '[::ffff:192.0.2.1]:5061')).to.deep.equal([
      10,
      '[2001:db8:0:0:0:0:0:1]:5060',
      '[0:0:0:0:0:ffff:c000:201]:5061',
    ]);
    expect(of('192.0.2.1:5060', 'sip.example.com:5060')).to.deep.equal([2, '192.0.2.1:5060', '0.0.0.0:0']);
  });

  it('are not made of a message that fits into no packet', () => {
    expect(hepPacket({ ...MESSAGE, text: 'x'.repeat(65_535) }, { id: 1, password: '' })).to.equal(undefined);
  });
});
