import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { HepSender } from '../../runtime/ladder/index.ts';
import { eventually } from '../support/eventually.ts';
import { parseHep } from './parse-hep.ts';

const SERVER = 'udp/192.0.2.1:5060';
const FRAME =
  'id|sip|network|500|udp|192.0.2.4|4000|07:38:14.015391|txn||192.0.2.1|5060|\r\n' +
  'BYE sip:x SIP/2.0\r\nCall-ID: leg-1\r\nAuthorization: Digest response="secret"\r\n\r\n';

function open(host: string, port: number) {
  const warnings: string[] = [];
  const log = { warn: (_details: object, message: string) => void warnings.push(message) };
  const callOf = (callid: string) => `call-of-${callid}`;
  return { warnings, sender: new HepSender({ host, port, id: 7, password: '', callOf, log }) };
}

describe('the sender to a capture server', () => {
  it('sends each message that was on the wire, with the id of its call and without secrets', async () => {
    const homer = createSocket('udp4').bind(0, '127.0.0.1');
    await once(homer, 'listening');
    const { sender } = open('127.0.0.1', homer.address().port);
    try {
      const arrived = once(homer, 'message');
      // Not before the socket is connected.
      const timer = setInterval(() => {
        sender.send('id|sip|network|0|unknown||0||txn|dialog|\r\nSIP/2.0 408 Late\r\n\r\n', SERVER);
        sender.send('id|response|msg|OK', SERVER);
        sender.send(FRAME, SERVER);
      }, 10);
      const [packet] = (await arrived) as [Buffer];
      clearInterval(timer);
      expect(parseHep(packet)).to.include({
        from: '192.0.2.4:4000',
        to: '192.0.2.1:5060',
        agent: 7,
        correlation: 'call-of-leg-1',
        text: 'BYE sip:x SIP/2.0\r\nCall-ID: leg-1\r\nAuthorization: Digest response="***"\r\n\r\n',
      });
    } finally {
      sender.close();
      homer.close();
    }
  });

  it('warns once when nobody listens, or the host is unknown, and goes on', async () => {
    const free = createSocket('udp4').bind(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address();
    free.close();
    await once(free, 'close');
    for (const host of ['127.0.0.1', 'no-such-host.invalid']) {
      const { sender, warnings } = open(host, port);
      const timer = setInterval(() => sender.send(FRAME, SERVER), 10);
      await eventually(async () => expect(warnings).to.have.length(1), 20_000);
      sender.send(FRAME, SERVER);
      clearInterval(timer);
      sender.close();
      expect(warnings).to.deep.equal(['SIP messages cannot be sent to the capture server (RINGMASTER_HEP)']);
    }
  }).timeout(60_000);
});
