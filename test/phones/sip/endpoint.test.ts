/** A far end controlled byte by byte by the test: the phone's retransmissions, and its violation reports. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { Phone } from '../phone.ts';
import { header, parseMessage, serialise, type SipMessage, type SipRequest } from './message.ts';

const TIMERS = { t1: 20, t2: 80 };

class FarEnd {
  readonly received: SipMessage[] = [];
  readonly #socket: Socket = createSocket('udp4');
  #phonePort = 0;
  #arrived: () => void = () => {};

  async open(): Promise<void> {
    this.#socket.on('message', (data, from) => {
      this.#phonePort = from.port;
      this.received.push(parseMessage(data));
      this.#arrived();
    });
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
  }

  get uri(): string {
    return `sip:far@127.0.0.1:${this.#socket.address().port}`;
  }

  /** The n-th message of a method or status class, once it has come. */
  async message(matches: (message: SipMessage) => boolean, count = 1): Promise<SipMessage> {
    for (;;) {
      const found = this.received.filter(matches)[count - 1];
      if (found !== undefined) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#arrived = resolve;
      await promise;
    }
  }

  async request(method: string, count = 1): Promise<SipRequest> {
    const message = await this.message((entry) => entry.kind === 'request' && entry.method === method, count);
    if (message.kind !== 'request') throw new Error('no request');
    return message;
  }

  answer(request: SipRequest, status: number, changes: Readonly<Record<string, string>> = {}, body = ''): void {
    const copied = ['Via', 'From', 'Call-ID', 'CSeq'].map((name) => ({
      name,
      value: changes[name] ?? header(request, name) ?? '',
    }));
    const headers = [
      ...copied,
      { name: 'To', value: changes['To'] ?? `${header(request, 'to')};tag=far` },
      { name: 'Contact', value: `<${this.uri}>` },
      ...(body === '' ? [] : [{ name: 'Content-Type', value: 'application/sdp' }]),
    ];
    this.send(serialise({ kind: 'response', status, reason: 'X', headers, body }));
  }

  send(data: Buffer, port = this.#phonePort): void {
    this.#socket.send(data, port, '127.0.0.1');
  }

  close(): void {
    this.#socket.close();
  }
}

const SDP = [
  'v=0',
  'o=far 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 9 RTP/AVP 0',
  'a=inactive',
  '',
].join('\r\n');

describe('SIP endpoint of the test phone', () => {
  let far: FarEnd;
  let phone: Phone;

  beforeEach(async () => {
    far = new FarEnd();
    await far.open();
    phone = await Phone.start({ login: 'alice', domain: 'test.local', timers: TIMERS });
  });

  afterEach(async () => {
    await phone.stop({ abruptly: true });
    far.close();
  });

  it('repeats an unanswered INVITE until 64 times T1', async () => {
    const call = await phone.call(far.uri);
    await far.request('INVITE', 4);
    expect((await call.ended()).by).to.equal('lost');
  });

  it('acknowledges every repetition of a refusal on the branch of the INVITE', async () => {
    const call = await phone.call(far.uri);
    const invite = await far.request('INVITE');
    far.answer(invite, 486);
    far.answer(invite, 486);
    const ack = await far.request('ACK', 2);
    expect(header(ack, 'via')).to.equal(header(invite, 'via'));
    expect(header(ack, 'to')).to.contain(';tag=far');
    expect((await call.refused()).status).to.equal(486);
    expect(phone.violations).to.deep.equal([]);
  });

  it('acknowledges every repetition of a 200 on a branch of its own', async () => {
    const call = await phone.call(far.uri);
    const invite = await far.request('INVITE');
    far.answer(invite, 200, {}, SDP);
    far.answer(invite, 200, {}, SDP);
    const ack = await far.request('ACK', 2);
    expect(header(ack, 'via')).not.to.equal(header(invite, 'via'));
    expect(header(ack, 'cseq')).to.equal('1 ACK');
    await call.answered();
    expect(phone.violations).to.deep.equal([]);
  });

  it('repeats its 200 until the ACK arrives, and reports a missing ACK', async () => {
    const invite: SipRequest = {
      kind: 'request',
      method: 'INVITE',
      uri: phone.contact,
      headers: [
        { name: 'Via', value: `SIP/2.0/UDP ${far.uri.split('@')[1]};branch=z9hG4bKfar1` },
        { name: 'From', value: '<sip:far@test.local>;tag=f' },
        { name: 'To', value: '<sip:alice@test.local>' },
        { name: 'Call-ID', value: 'far-1' },
        { name: 'CSeq', value: '7 INVITE' },
        { name: 'Max-Forwards', value: '70' },
        { name: 'Contact', value: `<${far.uri}>` },
        { name: 'Content-Type', value: 'application/sdp' },
      ],
      body: SDP,
    };
    far.send(serialise(invite), Number(phone.contact.split(':')[2]));
    const answered = (await phone.incoming()).answer(300).catch(String);
    await far.message((entry) => entry.kind === 'response' && entry.status === 200, 4);
    expect(await answered).to.match(/not within 300 ms/);
    expect(await phone.violation()).to.equal('no ACK to the 200 of the INVITE far-1');
  });

  const wrong: [string, Readonly<Record<string, string>>, RegExp][] = [
    ['another CSeq number', { CSeq: '9 INVITE' }, /cseq is "9 INVITE", sent was "1 INVITE"/],
    ['another Call-ID', { 'Call-ID': 'other' }, /call-id is "other"/],
    ['no To tag', { To: '<sip:far@127.0.0.1>' }, /To is "<sip:far@127.0.0.1>"|180 has no To tag/],
    ['a From without the tag', { From: '<sip:alice@test.local>' }, /from is "<sip:alice@test.local>"/],
  ];
  for (const [what, changes, expected] of wrong) {
    it(`reports a response with ${what}`, async () => {
      const call = await phone.call(far.uri);
      const invite = await far.request('INVITE');
      far.answer(invite, 180, changes);
      await call.ringing();
      expect(phone.violations.join('\n')).to.match(expected);
    });
  }

  it('reports a response without a transaction', async () => {
    await phone.call(far.uri);
    const invite = await far.request('INVITE');
    far.answer(invite, 180, { Via: (header(invite, 'via') ?? '').replace(/branch=\w+/, 'branch=z9hG4bKother') });
    far.answer(invite, 486);
    await far.request('ACK');
    expect(phone.violations).to.deep.equal(['180 to INVITE belongs to no transaction (branch z9hG4bKother)']);
  });

  it('reports an invalid session description', async () => {
    const call = await phone.call(far.uri);
    far.answer(await far.request('INVITE'), 200, {}, SDP.replace('s=-\r\n', ''));
    await call.answered();
    expect(phone.violations.join('\n')).to.match(/SDP: line 3 must be s=/);
  });
});
