import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { Afterlife } from '../../../runtime/embedded/stack/afterlife.ts';
import { type ServerTransaction, SipEndpoint, TimerWheel } from '../../../runtime/embedded/stack/index.ts';

/** Time that only moves when a test says so. */
function clock(): { readonly wheel: TimerWheel; at(ms: number): void } {
  let now = 0;
  const wheel = new TimerWheel(() => now);
  return {
    wheel,
    at: (ms) => {
      now = ms;
      wheel.advance();
    },
  };
}

describe('SIP transactions after their final response', () => {
  it('shed what they do not need one to two seconds later, and no timer is left then', () => {
    const { wheel, at } = clock();
    const afterlife = new Afterlife(wheel);
    const shed: string[] = [];
    afterlife.add({ shed: () => shed.push('first') });
    at(900);
    afterlife.add({ shed: () => shed.push('second') });
    at(1900);
    expect(shed).to.deep.equal([]);
    at(2100);
    expect(shed).to.deep.equal(['first', 'second']);
    at(3200);
    expect(wheel.size).to.equal(0);
  });

  it('answer what comes again as before, without the request that they answered', async () => {
    const { wheel, at } = clock();
    const transactions: ServerTransaction[] = [];
    const endpoint = new SipEndpoint({
      timers: wheel,
      handler: {
        request: (transaction) => {
          transactions.push(transaction);
          transaction.reply(200);
        },
      },
    });
    const { port } = await endpoint.listenUdp({ host: '127.0.0.1', port: 0 });
    const phone = createSocket('udp4');
    phone.connect(port, '127.0.0.1');
    await once(phone, 'connect');
    const ask = async (): Promise<string> => {
      const answered = once(phone, 'message');
      phone.send(
        [
          `MESSAGE sip:bob@127.0.0.1:${port} SIP/2.0`,
          `Via: SIP/2.0/UDP 127.0.0.1:${phone.address().port};branch=z9hG4bKafterlife;rport`,
          'From: <sip:alice@127.0.0.1>;tag=alice-of-the-afterlife',
          'To: <sip:bob@127.0.0.1>',
          'Call-ID: afterlife',
          'CSeq: 1 MESSAGE',
          'Max-Forwards: 70',
          'Content-Type: text/plain',
          'Content-Length: 5',
          '',
          'hello',
        ].join('\r\n'),
      );
      return String((await answered)[0]);
    };
    const first = await ask();
    for (const ms of [1000, 2000, 3000]) at(ms);
    expect(transactions[0]?.request.headers).to.have.length(0);
    expect(await ask()).to.equal(first);
    expect(transactions).to.have.length(1);
    phone.close();
    await endpoint.close();
  });
});
