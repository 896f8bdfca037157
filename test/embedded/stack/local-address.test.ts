import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { MediaHosts } from '../../../runtime/embedded/media/rtp/media-hosts.ts';
import { OwnAddresses } from '../../../runtime/embedded/stack/index.ts';
import { placeOf, sourceOfLimits } from '../../../runtime/sip-facts/index.ts';
import { HAS_IPV6 } from '../../support/ipv6.ts';

const PUBLIC = ['203.0.113.7', '2001:db8:7::7'];

describe('the address that a peer is told', () => {
  it('is the bound one, without a public address', () => {
    const own = new OwnAddresses();
    expect(own.towards('192.0.2.9', '198.51.100.1')).to.equal('192.0.2.9');
    expect(own.towards('127.0.0.1', '127.0.0.1')).to.equal('127.0.0.1');
  });

  it('of a socket at every address is the one that the system uses towards the peer', () => {
    const own = new OwnAddresses();
    expect(own.towards('0.0.0.0', '127.0.0.1')).to.equal('127.0.0.1');
    const [wired] = Object.values(networkInterfaces()).flatMap(
      (each) => each?.filter(({ family, internal }) => family === 'IPv4' && !internal) ?? [],
    );
    if (wired !== undefined) expect(own.towards('0.0.0.0', wired.address)).to.equal(wired.address);
  });

  it('over IPv6 is ::1 for a peer on this machine', function () {
    if (!HAS_IPV6) this.skip();
    expect(new OwnAddresses().towards('::', '::1')).to.equal('::1');
  });

  it('of a connection is the one that the peer connected to', () => {
    expect(new OwnAddresses().towards('0.0.0.0', '127.0.0.1', '127.0.0.8')).to.equal('127.0.0.8');
  });

  it('is the public one of the family for peers outside, and for names', () => {
    const own = new OwnAddresses(PUBLIC);
    expect(own.towards('0.0.0.0', '198.51.100.1')).to.equal('203.0.113.7');
    expect(own.towards('10.1.2.3', 'sip.carrier.example')).to.equal('203.0.113.7');
    expect(own.towards('::', '2001:db8:99::1')).to.equal('2001:db8:7::7');
    expect(new OwnAddresses(['2001:db8:7::7']).towards('192.0.2.9', '198.51.100.1')).to.equal('192.0.2.9');
  });

  it('is the local one for private peers, and for this machine', () => {
    const own = new OwnAddresses(PUBLIC);
    for (const peer of ['10.9.9.9', '172.31.0.1', '192.168.200.1', '100.64.0.1', '169.254.1.1'])
      expect(own.towards('10.1.2.3', peer), peer).to.equal('10.1.2.3');
    expect(own.towards('0.0.0.0', '127.0.0.1')).to.equal('127.0.0.1');
    expect(own.towards('fd00:1::1', 'fd00:9::9')).to.equal('fd00:1::1');
  });

  it('is a private public one for private peers outside of the networks of this machine', () => {
    const own = new OwnAddresses(['192.168.77.10']);
    expect(own.towards('172.17.0.2', '192.168.77.50')).to.equal('192.168.77.10');
    expect(own.towards('127.0.0.1', '127.0.0.1')).to.equal('127.0.0.1');
  });
});

describe('the address of the sound of a call', () => {
  const offer = (media: string, peer?: string) => ({ peer, media, bound: true });
  const both = new MediaHosts(['192.0.2.9', '2001:db8::9'], []);

  it('has the family of the far end', () => {
    expect(both.choose(offer('198.51.100.1'))).to.deep.equal({ host: '192.0.2.9', told: '192.0.2.9' });
    expect(both.choose(offer('2001:db8:99::1'))).to.deep.equal({ host: '2001:db8::9', told: '2001:db8::9' });
    expect(both.choose({ peer: '2001:db8:99::1', media: undefined, bound: false })?.host).to.equal('2001:db8::9');
    expect(both.choose({ peer: undefined, media: undefined, bound: false })?.host).to.equal('192.0.2.9');
  });

  it('has the family of the connection of a browser, whose candidates come later', () => {
    expect(both.choose({ peer: '2001:db8:99::1', media: '0.0.0.0', bound: false })?.host).to.equal('2001:db8::9');
  });

  it('is missing for a family that the server does not have', () => {
    expect(new MediaHosts(['192.0.2.9'], []).choose(offer('2001:db8:99::1'))).to.equal(undefined);
    expect(new MediaHosts(['2001:db8::9'], []).choose(offer('198.51.100.1'))).to.equal(undefined);
  });

  it('on a server with IPv6 alone is 127.0.0.1 for the taps of its own node', () => {
    expect(new MediaHosts(['2001:db8::9'], []).choose(offer('127.0.0.1'))?.host).to.equal('127.0.0.1');
  });

  it('is the public one for a far end outside: by its session description, or by its SIP', () => {
    const hosts = new MediaHosts(['10.1.2.3'], PUBLIC);
    expect(hosts.choose(offer('192.168.5.5', '198.51.100.1'))?.told).to.equal('203.0.113.7');
    expect(hosts.choose(offer('198.51.100.1', '10.9.9.9'))?.told).to.equal('203.0.113.7');
    expect(hosts.choose(offer('192.168.5.5', '10.9.9.9'))?.told).to.equal('10.1.2.3');
    expect(hosts.choose({ peer: '198.51.100.1', media: undefined, bound: false })?.told).to.equal('203.0.113.7');
  });
});

describe('places and sources', () => {
  it('a place reaches this machine by one address', () => {
    expect(placeOf('192.168.1.5')).to.equal(placeOf('192.168.1.99')).and.not.equal(placeOf('192.168.2.5'));
    expect(placeOf('198.51.100.1')).to.equal(placeOf('203.0.113.9')).and.not.equal(placeOf('2001:db8::1'));
    expect(placeOf('fd00:0:0:1::5')).to.equal(placeOf('fd00:0:0:1:9::9')).and.not.equal(placeOf('fd00:0:0:2::5'));
    expect(placeOf('127.0.0.1')).to.equal(placeOf('127.0.0.9')).and.not.equal(placeOf('::1'));
  });

  it('limits count an IPv4 address, and a /64 of IPv6', () => {
    expect(sourceOfLimits('192.0.2.1')).to.equal('192.0.2.1');
    expect(sourceOfLimits('2001:db8::1')).to.equal(sourceOfLimits('2001:db8:0:0:ffff::2'));
    expect(sourceOfLimits('2001:db8::1')).to.not.equal(sourceOfLimits('2001:db8:0:1::1'));
  });
});
