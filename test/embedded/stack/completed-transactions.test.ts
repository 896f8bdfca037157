import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { CompletedTransactions } from '../../../runtime/embedded/stack/completed-transactions.ts';
import {
  type ClientTransaction,
  type ServerTransaction,
  SipEndpoint,
  SipRequest,
  type SipResponse,
  TimerWheel,
} from '../../../runtime/embedded/stack/index.ts';

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
  it('drop unneeded data one to two seconds later, with no timer left', () => {
    const { wheel, at } = clock();
    const completed = new CompletedTransactions(wheel);
    const freed: string[] = [];
    completed.add({ freeMemory: () => freed.push('first') });
    at(900);
    completed.add({ freeMemory: () => freed.push('second') });
    at(1900);
    expect(freed).to.deep.equal([]);
    at(2100);
    expect(freed).to.deep.equal(['first', 'second']);
    at(3200);
    expect(wheel.size).to.equal(0);
  });

  it('answer retransmissions as before, without keeping the request', async () => {
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

  it('of an INVITE release the call, and still acknowledge a repeated 2xx', async () => {
    const [ofCaller, ofCallee] = [clock(), clock()];
    const acks: SipRequest[] = [];
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answered: { transaction: ServerTransaction; response: SipResponse }[] = [];
    const callee = new SipEndpoint({
      timers: ofCallee.wheel,
      handler: {
        request: (transaction) => {
          transaction.onAck = (ack) => first.resolve(void acks.push(ack));
          const response = transaction.createResponse(200).add('Contact', '<sip:bob@127.0.0.1>');
          response.body = Buffer.from('v=0\r\n');
          answered.push({ transaction, response });
          transaction.send(response);
        },
        ack: (ack) => second.resolve(void acks.push(ack)),
      },
    });
    const { port } = await callee.listenUdp({ host: '127.0.0.1', port: 0 });
    const caller = new SipEndpoint({ timers: ofCaller.wheel, handler: { request: () => undefined } });
    await caller.listenUdp({ host: '127.0.0.1', port: 0 });
    const to = { transport: 'udp', host: '127.0.0.1', port } as const;
    const invite = new SipRequest('INVITE', `sip:bob@127.0.0.1:${port}`)
      .add('From', '<sip:alice@127.0.0.1>;tag=alice-of-the-afterlife')
      .add('To', '<sip:bob@127.0.0.1>')
      .add('Call-ID', 'afterlife-of-an-invite')
      .add('CSeq', '7 INVITE')
      .add('Content-Type', 'application/sdp');
    invite.body = Buffer.from('v=0\r\n');
    const transaction: ClientTransaction = caller.request(invite, to, {
      response: (response) => {
        if (response.status < 200) return;
        const ack = new SipRequest('ACK', invite.uri).add('From', invite.header('from') ?? '');
        ack
          .add('To', response.header('to') ?? '')
          .add('Call-ID', invite.callId)
          .add('CSeq', '7 ACK');
        caller.sendAck(transaction, ack, to);
      },
      failed: first.reject,
    });
    await first.promise;
    for (const ms of [1000, 2000, 3000]) {
      ofCaller.at(ms);
      ofCallee.at(ms);
    }
    expect(transaction.request.headers.map(({ key }) => key)).to.deep.equal(['via', 'from', 'to', 'call-id', 'cseq']);
    expect(transaction.request.body).to.have.length(0);
    const [uas] = answered;
    expect(uas?.transaction.onAck).to.equal(undefined);
    expect(uas?.transaction.request.headers).to.have.length(0);
    uas?.transaction.send(uas.response);
    await second.promise;
    expect(acks.map((ack) => ack.head())).to.deep.equal([acks[0]?.head(), acks[0]?.head()]);
    await caller.close();
    await callee.close();
  });
});
