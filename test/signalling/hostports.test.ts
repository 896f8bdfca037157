import { expect } from 'chai';
import { addressesOf, hostsOf, transportOf, webSocketOf } from '../../runtime/signalling/hostports.ts';

describe('the addresses of a SIP server', () => {
  it('are the hosts of its connect message', () => {
    const hosts = hostsOf('tcp/192.0.2.1:5060,udp/[2001:DB8::1]:5060', 'udp/10.0.0.4:5062,wss/sip.example.com:443');
    expect([...hosts]).to.deep.equal(['192.0.2.1', '2001:db8::1', '10.0.0.4', 'sip.example.com']);
  });

  it('by UDP are the registration addresses of phones', () => {
    const hostports = 'tcp/192.0.2.1:5060,udp/192.0.2.1:5060, udp/[2001:db8::1]:5062';
    expect(addressesOf(hostports, 'udp')).to.deep.equal(['192.0.2.1:5060', '[2001:db8::1]:5062']);
    expect(addressesOf(undefined, 'udp')).to.deep.equal([]);
  });

  it('include localhost when it listens at the loopback address', () => {
    expect(hostsOf('udp/127.0.0.1:5060').has('localhost')).to.equal(true);
    expect(hostsOf('udp/[::1]:5060').has('localhost')).to.equal(true);
    expect(hostsOf('udp/192.0.2.1:5060').has('localhost')).to.equal(false);
  });

  it('are all of this machine when it listens everywhere', () => {
    expect(hostsOf('udp/0.0.0.0:5060').has('127.0.0.1')).to.equal(true);
    expect(hostsOf('udp/0.0.0.0:5060').has('0.0.0.0')).to.equal(false);
  });

  it('are empty for an unreadable connect message', () => {
    expect(hostsOf(undefined, null, '', 'nonsense/').size).to.equal(0);
  });
});

describe('the transport of a request', () => {
  const hostports = 'wss/192.0.2.1:5067,ws/192.0.2.1:5066,tls/192.0.2.1:5061,tcp/192.0.2.1:5060,udp/192.0.2.1:5060';
  const of = (reported: string, receivedOn: string | undefined, via: string): string =>
    transportOf(reported, receivedOn, `SIP/2.0/${via} x.invalid;branch=z9hG4bK1`, hostports);

  it('is what the SIP server reports, unless that is TCP', () => {
    expect(of('udp', '192.0.2.1:5060', 'UDP')).to.equal('udp');
    expect(of('tls', '192.0.2.1:5061', 'TLS')).to.equal('tls');
    expect(of('tcp', '192.0.2.1:5060', 'TCP')).to.equal('tcp');
  });

  it('is that of the listener for WebSockets, whatever a browser behind a proxy believes', () => {
    expect(of('tcp', '192.0.2.1:5066', 'WSS')).to.equal('ws');
    expect(of('tcp', '192.0.2.1:5067', 'WSS')).to.equal('wss');
    expect(of('tcp', undefined, 'WSS')).to.equal('wss');
  });

  it('is found among the listeners for WebSockets, with and without TLS', () => {
    expect(webSocketOf(hostports, true)).to.deep.equal({ host: '192.0.2.1', port: 5067 });
    expect(webSocketOf(hostports, false)).to.deep.equal({ host: '192.0.2.1', port: 5066 });
    expect(webSocketOf('udp/192.0.2.1:5060', false)).to.equal(undefined);
  });
});
