import { expect } from 'chai';
import { HAS_IPV6 } from '../support/ipv6.ts';
import { readWireFrame } from '../../runtime/signalling/wire-frame.ts';

const SERVER = 'udp/127.0.0.1:5060,tcp/127.0.0.1:5060,udp/[::1]:5060';
/** 07:38:28.760 in UTC. */
const AT = Date.UTC(2026, 10, 21, 7, 38, 28, 760);
const INVITE =
  'INVITE sip:bob@127.0.0.1:15080 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK1\r\nCall-ID: 1\r\n\r\n';
const OK = 'SIP/2.0 200 OK\r\nVia: SIP/2.0/TCP 127.0.0.1:15070;branch=z9hG4bK2\r\nCall-ID: 1\r\nCSeq: 2 BYE\r\n\r\n';

const read = (frame: string, at = AT) => readWireFrame(frame, SERVER, at);

describe('frames of a SIP server', () => {
  it('a new request names the address that it came to', () => {
    const head = 'id|sip|network|559|udp|192.0.2.4|15070|07:38:28.759391|txn||127.0.0.2|5062|';
    expect(read(`${head}\r\n${INVITE}`)).to.deep.equal({
      time: AT - 0.609,
      transport: 'udp',
      from: '192.0.2.4:15070',
      to: '127.0.0.2:5062',
      isSent: false,
      isToGuessed: false,
      isLocal: false,
      text: INVITE,
    });
  });

  it('a message within a dialog came to the listener of its transport and address family', () => {
    const frame = (protocol: string, address: string) =>
      read(`id|sip|network|313|${protocol}|${address}|15080|07:38:28.760666|txn|dialog|\r\n${OK}`);
    expect(frame('udp', '192.0.2.4')).to.include({ from: '192.0.2.4:15080', to: '127.0.0.1:5060' });
    expect(frame('udp', '2001:db8::4')).to.include({ from: '[2001:db8::4]:15080', to: '[::1]:5060' });
  });

  it('a missing protocol is that of the Via header', () => {
    const head = 'id|response|msg|OK|application|263||192.0.2.4|15070|07:38:28.760000|txn|||Msg sent:|';
    expect(read(`${head}\r\n${OK}`)).to.include({ transport: 'tcp', to: '192.0.2.4:15070', isSent: true });
  });

  it('a request sent over UDP goes to its Route or Request-URI, as the server reports its own address', () => {
    const head = 'id|response|msg|OK|application|541|udp|127.0.0.1|5060|07:38:28.760000|txn|Msg sent:|\r\n';
    expect(read(head + INVITE)).to.include({ from: '127.0.0.1:5060', to: '127.0.0.1:15080', isToGuessed: true });
    const routed = INVITE.replace('Call-ID', 'Route: <sip:192.0.2.9;lr>\r\nCall-ID');
    expect(read(head + routed)).to.include({ to: '192.0.2.9:5060' });
    const tcp = head.replace('udp|127.0.0.1|5060', 'tcp|192.0.2.4|15080');
    expect(read(tcp + INVITE)).to.include({ from: '127.0.0.1:5060', to: '192.0.2.4:15080', isToGuessed: false });
  });

  it('an answer that the server made up has no far address', () => {
    const head = 'id|sip|network|0|unknown||0|07:38:28.760000|txn|dialog|';
    expect(read(`${head}\r\n${OK}`)).to.include({ from: '', to: '127.0.0.1:5060', isLocal: true });
  });

  it('the time is that of the server in any time zone, with the date of the arrival', () => {
    const at = (clock: string, received: number) =>
      read(`id|sip|network|5|udp|192.0.2.4|1|${clock}|txn|dialog|\r\n${OK}`, received)?.time;
    expect(at('13:23:28.759500', AT)).to.equal(AT - 0.5);
    const hour = Date.UTC(2026, 10, 21, 8, 0, 0, 2);
    expect(at('07:59:59.999000', hour)).to.equal(hour - 3);
    // Its clock is an hour and a half minute ahead.
    expect(at('08:38:58.760000', AT)).to.equal(AT + 30_000);
    expect(at('07:43:28.760000', AT), 'a wrong clock').to.equal(AT);
    expect(at('', AT)).to.equal(AT);
  });

  it('of a server at every address name the address that this machine has for the peer', () => {
    const everywhere = 'udp/0.0.0.0:5070,tcp/0.0.0.0:5070,udp/[::]:5070';
    const frame = (head: string, text: string) => readWireFrame(`${head}\r\n${text}`, everywhere, AT);
    const received = 'id|sip|network|313|udp|127.0.0.1|15080|07:38:28.760666|txn|dialog|';
    expect(frame(received, OK)).to.include({ from: '127.0.0.1:15080', to: '127.0.0.1:5070' });
    const first = 'id|sip|network|559|udp|127.0.0.1|15070|07:38:28.759391|txn||0.0.0.0|5070|';
    expect(frame(first, INVITE)).to.include({ from: '127.0.0.1:15070', to: '127.0.0.1:5070' });
    const sent = 'id|response|msg|OK|application|541|udp|0.0.0.0|5070|07:38:28.760000|txn|Msg sent:|';
    expect(frame(sent, INVITE)).to.include({ from: '127.0.0.1:5070', to: '127.0.0.1:15080', isToGuessed: true });
    if (!HAS_IPV6) return;
    const six = received.replace('127.0.0.1', '::1');
    expect(frame(six, OK)).to.include({ from: '[::1]:15080', to: '[::1]:5070' });
  });

  it('others have no message', () => {
    for (const frame of [
      'id|response|msg|OK',
      `id|response|msg|NOK|no such dialog\r\n${OK}`,
      `id|cdr:start|network\r\n${OK}`,
    ])
      expect(read(frame)).to.equal(undefined);
  });
});
