import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HepSender } from '../../runtime/ladder/index.ts';
import { requirePeer } from '../phones/peers.ts';
import { eventually } from '../support/eventually.ts';
import { freeUdpRange } from '../support/ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SERVER = 'udp/192.0.2.1:5060';
const PASSWORD = 'secret';
/** What a receiver stops counting at. */
const ENOUGH = 3;

/** A message of another call than the ones before. @param clock of the SIP server */
const frame = (call: number, clock: Date): string =>
  `id|sip|network|500|udp|192.0.2.4|${4000 + call}|${clock.toISOString().slice(11, 23)}000|txn||192.0.2.1|5060|\r\n` +
  `INVITE sip:102@demo.local SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.4:4000;branch=z9hG4bK${call}\r\n` +
  `From: "Grüße" <sip:101@demo.local>;tag=1\r\nTo: <sip:102@demo.local>\r\nCall-ID: call-${call}\r\nCSeq: 1 INVITE\r\n` +
  'Authorization: Digest response="0123"\r\nContent-Length: 0\r\n\r\n';

/** The packets of a capture of Ethernet frames with IPv4 and UDP. */
function packetsOf(capture: Buffer): { seconds: number; from: string; to: string; text: string }[] {
  const packets = [];
  for (let at = 24; at < capture.length; ) {
    const bytes = capture.subarray(at + 16, at + 16 + capture.readUInt32LE(at + 8));
    const ip = bytes.subarray(14);
    const udp = ip.subarray(20);
    packets.push({
      seconds: capture.readUInt32LE(at),
      from: `${[...ip.subarray(12, 16)].join('.')}:${udp.readUInt16BE(0)}`,
      to: `${[...ip.subarray(16, 20)].join('.')}:${udp.readUInt16BE(2)}`,
      text: udp.toString('utf8', 8),
    });
    at += 16 + bytes.length;
  }
  return packets;
}

describe('sngrep as a capture server', () => {
  const folder = temporaryFolder();

  it('understands the packets of a node, with their addresses, times and password', async function () {
    const program = requirePeer(this, 'sngrep');
    const { from: port } = await freeUdpRange(2);
    const [settings, capture] = [join(folder, 'sngreprc'), join(folder, 'captured.pcap')];
    writeFileSync(settings, `set eep.listen.pass ${PASSWORD}\n`);
    const listen = `udp:127.0.0.1:${port}`;
    const sngrep = spawn(program, ['-F', '-f', settings, '-N', '-L', listen, '-O', capture], { stdio: 'pipe' });
    let printed = '';
    sngrep.stdout.on('data', (data: Buffer) => (printed += data.toString()));
    const ended = once(sngrep, 'exit');
    const log = { warn: () => undefined };
    const to = { host: '127.0.0.1', port, id: 7, callOf: (callid: string) => `id-of-${callid}`, log };
    const [sender, stranger] = [
      new HepSender({ ...to, password: PASSWORD }),
      new HepSender({ ...to, password: 'another' }),
    ];
    // It stands still.
    const clock = new Date();
    try {
      let call = 0;
      await eventually(async () => {
        // Repeated: what comes before it listens is lost.
        call += 1;
        stranger.send(frame(1000 + call, clock), SERVER);
        sender.send(frame(call, clock), SERVER);
        const [, count = '0'] = /.*Dialog count: (\d+)/s.exec(printed) ?? [];
        expect(Number(count)).to.be.at.least(ENOUGH);
      }, 30_000);
    } finally {
      sngrep.kill('SIGINT');
      await ended;
      sender.close();
      stranger.close();
    }
    const packets = packetsOf(readFileSync(capture));
    expect(packets.length).to.be.at.least(ENOUGH);
    for (const { from, to: target, seconds, text } of packets) {
      const [, call = ''] = /^Call-ID: call-(\d+)\r$/m.exec(text) ?? [];
      expect({ from, target }).to.deep.equal({ from: `192.0.2.4:${4000 + Number(call)}`, target: '192.0.2.1:5060' });
      expect(Number(call), 'with the password').to.be.below(1000);
      const expected = frame(Number(call), clock)
        .replace(/^.*\r\n/, '')
        .replace('"0123"', '"***"');
      expect(text).to.equal(expected);
      expect(seconds).to.equal(Math.floor(clock.getTime() / 1000));
    }
  });
});
