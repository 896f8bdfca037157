import { expect } from 'chai';
import type { ContactBinding } from '../../../runtime/domain/directory.ts';
import { isFromContact, nextHopOf } from '../../../runtime/switch/addresses/next-hop.ts';

function binding(contact: string, protocol: 'udp' | 'tcp', address: string, port: number): ContactBinding {
  return {
    sipUserId: 's',
    contact,
    callId: 'c',
    cseq: 1,
    source: { protocol, address, port },
    expires: 0,
    userAgent: undefined,
    allowEvents: [],
  };
}

describe('next hop to a registered phone', () => {
  it('is the contact of a phone that knows its own address, whatever the port', () => {
    expect(nextHopOf(binding('sip:bob@192.0.2.4:5080', 'udp', '192.0.2.4', 5070))).to.equal(undefined);
  });

  it('is the source address of the REGISTER of a phone behind NAT', () => {
    expect(nextHopOf(binding('sip:bob@10.0.0.7:5060', 'udp', '192.0.2.4', 31000))).to.equal(
      'sip:192.0.2.4:31000;transport=udp',
    );
  });

  it('is the connection of the registration over TCP', () => {
    expect(nextHopOf(binding('sip:bob@192.0.2.4:5062;transport=tcp', 'tcp', '192.0.2.4', 43210))).to.equal(
      'sip:192.0.2.4:43210;transport=tcp',
    );
    expect(nextHopOf(binding('sip:bob@[2001:db8::1]:5062', 'tcp', '2001:db8::1', 43210))).to.equal(
      'sip:[2001:db8::1]:43210;transport=tcp',
    );
  });

  it('is the nearest edge proxy of its registration, which does not identify the phone', () => {
    const bob = {
      ...binding('sip:bob@192.0.2.4:5080', 'udp', '198.51.100.1', 5060),
      path: ['<sip:edge1.example;lr>', '<sip:edge2.example;lr>'],
    };
    expect(nextHopOf(bob)).to.equal('sip:edge1.example;lr');
    expect(isFromContact(bob, { protocol: 'udp', address: '198.51.100.1', port: 5060 })).to.equal(false);
  });

  it('identifies requests of the phone', () => {
    const bob = binding('sip:bob@192.0.2.4:5080', 'udp', '192.0.2.4', 5070);
    const from = (port: number, protocol = 'udp', address = '192.0.2.4') =>
      isFromContact(bob, { protocol, address, port });
    expect([from(5070), from(5080)]).to.deep.equal([true, true]);
    expect([from(5090), from(5070, 'tcp'), from(5080, 'udp', '192.0.2.5')]).to.deep.equal([false, false, false]);
  });
});
