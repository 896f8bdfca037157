import { expect } from 'chai';
import { ladderHtml } from '../../runtime/cli/ladder/html.ts';
import { ladderPcap } from '../../runtime/cli/ladder/pcap.ts';
import { ladderText } from '../../runtime/cli/ladder/text.ts';
import type { LadderMessage, LadderView } from '../../runtime/ladder/ladder.ts';

const NODE = '192.0.2.1:5060';
const ALICE = '192.0.2.11:40000';
const BOB = '[2001:db8::2]:50000';

function message(
  callid: string,
  from: string,
  to: string,
  text: string,
  more: Partial<LadderMessage> = {},
): LadderMessage {
  const time = '2026-11-25T12:00:00.123456Z';
  return { time, callid, transport: 'udp', from, to, sent: from === NODE, wire: true, text, ...more };
}

const sip = (start: string, cseq: string, more = '') => `${start}\r\nTo: <sip:x@x>\r\nCSeq: 1 ${cseq}\r\n${more}\r\n`;
const SDP = 'Content-Type: application/sdp\r\n';

const VIEW: LadderView = {
  calls: [{ id: 'the-id', dialogid: 'd1', started: '2026-11-25T12:00:00.000Z', ended: null }],
  legs: [
    { callid: 'a', side: 'a', kind: 'sipuser', number: '101', name: 'Alice <b>' },
    { callid: 'b', side: 'b', kind: 'sipuser', number: '102', name: null },
  ],
  complete: true,
  messages: [
    message('a', ALICE, NODE, sip('INVITE sip:102@demo.local SIP/2.0', 'INVITE', SDP)),
    message('b', '[2001:db8::1]:5060', BOB, sip('INVITE sip:bob@x SIP/2.0', 'INVITE'), {
      sent: true,
      transport: 'tcp',
    }),
    message('b', '', NODE, sip('SIP/2.0 408 Request Timeout', 'INVITE'), { wire: false }),
    message('a', NODE, ALICE, sip('SIP/2.0 408 Request Timeout<script>', 'INVITE')),
    message('a', ALICE, NODE, sip('ACK sip:102@demo.local SIP/2.0', 'ACK', 'X: \u001b[31mred\r\n')),
  ],
};

describe('forms of a ladder', () => {
  it('the text has a lane for each far end, and arrows in both directions', () => {
    const lines = ladderText(VIEW, false);
    expect(lines[0]).to.equal('call the-id  dialog d1  2026-11-25T12:00:00.000Z to now');
    const [names = '', addresses = '', ...rungs] = lines.slice(2);
    expect(names).to.match(/^ +101 Alice <b> +ringmaster +102$/);
    expect(addresses).to.match(/^ +192\.0\.2\.11:40000 +192\.0\.2\.1:5060 +\[2001:db8::2\]:50000$/);
    expect(rungs).to.have.length(5);
    const left = names.indexOf('101');
    const middle = names.indexOf('ringmaster');
    expect(rungs[0]).to.match(/^12:00:00\.123 +\|- \(1\) INVITE 102 \+SDP -*>\|/);
    expect(rungs[0]?.indexOf('|')).to.equal(left);
    expect(rungs[1]?.slice(middle)).to.match(/^\|- \(2\) INVITE bob TCP -*>\|$/);
    expect(rungs[2]?.slice(middle)).to.match(/^\|< \(3\) 408 Request.*\.*-\|$/);
    expect(rungs[3]?.slice(left)).to.match(/^\|< \(4\) 408 Request.*-\|/);
    expect(ladderText(VIEW, true).join('\n')).to.include('X: ?[31mred').and.not.include('\u001b');
  });

  it('the text says that messages are missing', () => {
    expect(ladderText({ ...VIEW, complete: false }, false).join('\n')).to.include('no longer kept');
    expect(ladderText({ ...VIEW, messages: [] }, false).join('\n')).to.include('No message');
  });

  it('the page is escaped, and needs no script and nothing from elsewhere', () => {
    const html = ladderHtml(VIEW);
    expect(html).to.include('101 Alice &lt;b&gt;').and.include('Timeout&lt;script&gt;');
    expect(html).not.to.match(/<script|<b>Alice|src=|href=|url\(|@import/i);
    expect(html.match(/<details>/g)).to.have.length(5);
    expect(html).to.include("default-src 'none'");
  });

  it('the capture has the messages of the wire as UDP packets with valid checksums', () => {
    const packets = packetsOf(ladderPcap(VIEW));
    expect(packets.map(({ from, to }) => [from, to])).to.deep.equal([
      [ALICE, NODE],
      ['[2001:db8:0:0:0:0:0:1]:5060', '[2001:db8:0:0:0:0:0:2]:50000'],
      [NODE, ALICE],
      [ALICE, NODE],
    ]);
    for (const { seconds, micros, sum } of packets) {
      expect(seconds).to.equal(Date.UTC(2026, 10, 25, 12) / 1000);
      expect(micros).to.equal(123_456);
      expect(sum).to.equal(0xff_ff);
    }
    expect(packets[0]?.text).to.equal(VIEW.messages[0]?.text);
  });
});

interface Packet {
  readonly seconds: number;
  readonly micros: number;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** Of the UDP packet with its pseudo header: 0xffff where the checksum is right. */
  readonly sum: number;
}

/** Reads a pcap file of raw IP packets. */
function packetsOf(file: Buffer): Packet[] {
  expect(file.readUInt32LE(0)).to.equal(0xa1_b2_c3_d4);
  expect(file.readUInt32LE(20)).to.equal(101);
  const packets: Packet[] = [];
  for (let at = 24; at < file.length; ) {
    const length = file.readUInt32LE(at + 8);
    expect(file.readUInt32LE(at + 12)).to.equal(length);
    const ip = file.subarray(at + 16, at + 16 + length);
    expect(ip).to.have.length(length);
    packets.push({ seconds: file.readUInt32LE(at), micros: file.readUInt32LE(at + 4), ...readIp(ip) });
    at += 16 + length;
  }
  return packets;
}

function readIp(ip: Buffer): Omit<Packet, 'seconds' | 'micros'> {
  const isV6 = ip.readUInt8(0) >> 4 === 6;
  const [head, size] = isV6 ? [40, 16] : [20, 4];
  if (!isV6) expect(sumOf(ip.subarray(0, 20)), 'checksum of the IP header').to.equal(0xff_ff);
  expect(isV6 ? ip.readUInt16BE(4) + 40 : ip.readUInt16BE(2)).to.equal(ip.length);
  expect(ip.readUInt8(isV6 ? 6 : 9)).to.equal(17);
  const addresses = ip.subarray(head - 2 * size, head);
  const udp = ip.subarray(head);
  expect(udp.readUInt16BE(4)).to.equal(udp.length);
  const pseudo = Buffer.from([0, 0, udp.length >> 8, udp.length & 255, 0, 0, 0, 17]);
  const host = (bytes: Buffer): string =>
    isV6
      ? `[${Array.from({ length: 8 }, (_, word) => bytes.readUInt16BE(word * 2).toString(16)).join(':')}]`
      : [...bytes].join('.');
  return {
    from: `${host(addresses.subarray(0, size))}:${udp.readUInt16BE(0)}`,
    to: `${host(addresses.subarray(size))}:${udp.readUInt16BE(2)}`,
    text: udp.subarray(8).toString(),
    sum: sumOf(Buffer.concat([addresses, pseudo, udp])),
  };
}

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (const [at, byte] of bytes.entries()) sum += at % 2 === 0 ? byte * 256 : byte;
  while (sum > 0xff_ff) sum = (sum & 0xff_ff) + (sum >>> 16);
  return sum;
}
