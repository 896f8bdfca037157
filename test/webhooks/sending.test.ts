import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { AddressGuard } from '../../components/index.ts';
import { backOff, restOf } from '../../runtime/webhooks/back-off.ts';
import { send } from '../../runtime/webhooks/send.ts';
import { signatureOf } from '../../runtime/webhooks/signature.ts';
import { urlProblem } from '../../runtime/webhooks/target.ts';
import { Receiver } from './receiver.ts';

const secret = (byte: string): string => `whsec_${Buffer.from(byte.repeat(32)).toString('base64')}`;

describe('a request of a webhook', () => {
  let receiver: Receiver;
  before(async () => {
    receiver = await Receiver.start(({ path }) => {
      if (path === '/moved') return { status: 302, headers: { location: '/target' } };
      if (path === '/busy') return { status: 503, headers: { 'retry-after': '7' } };
      return path === '/silent' ? undefined : 204;
    });
  });
  after(() => receiver.close());

  const loopback = new AddressGuard(['127.0.0.0/8', '::1']);
  const post = (url: string, addresses = loopback, signal = new AbortController().signal) =>
    send({ url, headers: { 'content-type': 'application/json' }, body: '{}', signal }, addresses);

  it('is verified by the library of Standard Webhooks, with the former secret and with the new one', () => {
    const body = '{"type":"callevents.call_end","data":{"name":"Zoë"}}';
    const seconds = Math.floor(Date.now() / 1000);
    const header = signatureOf({ id: 'msg_1', seconds, body }, [secret('n'), secret('o')]);
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(seconds), 'webhook-signature': header };
    for (const known of [secret('n'), secret('o')])
      expect(new Webhook(known).verify(body, headers)).to.have.property('type', 'callevents.call_end');
    expect(() => new Webhook(secret('x')).verify(body, headers)).to.throw();
    expect(() => new Webhook(secret('n')).verify(`${body} `, headers)).to.throw();
  });

  it('follows no redirect, and reports the status and Retry-After', async () => {
    expect(await post(`${receiver.base}/fine`)).to.deep.equal({ status: 204, error: '' });
    expect(await post(`${receiver.base}/moved`)).to.deep.equal({ status: 302, error: 'redirects are not followed' });
    expect(receiver.of('/target')).to.deep.equal([]);
    const busy = { status: 503, error: 'the server answered 503', retryAfterMs: 7_000 };
    expect(await post(`${receiver.base}/busy`)).to.deep.equal(busy);
  });

  it('ends with its signal', async () => {
    const abort = new AbortController();
    const sent = post(`${receiver.base}/silent`, loopback, abort.signal);
    abort.abort();
    expect((await sent).error).to.not.equal('');
  });

  it('never reaches an address that is not public, by whatever name', async () => {
    const nobody = new AddressGuard();
    const { port } = new URL(receiver.base);
    const before = receiver.received.length;
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.1']) {
      for (const scheme of ['http', 'https']) {
        const { status, error } = await post(`${scheme}://${host}:${port}/`, nobody);
        expect(status, host).to.equal(undefined);
        if (host === 'localhost') expect(error).to.match(/^localhost is/);
        expect(error, host).to.match(/is not public: the operator allows networks by RINGMASTER_WEBHOOK_NETWORKS$/);
      }
    }
    expect(receiver.received.length).to.equal(before);
    // One allowed address of a name is not enough.
    expect((await post(`http://localhost:${port}/`, new AddressGuard(['192.168.0.0/16']))).status).to.equal(undefined);
    expect((await post(`http://localhost:${port}/`)).status).to.equal(204);
  });

  it('uses plain HTTP only in the networks that the operator allows', () => {
    const guard = new AddressGuard(['10.1.0.0/16']);
    expect(urlProblem('http://10.1.2.3/x', guard)).to.equal(undefined);
    expect(urlProblem('https://8.8.8.8/x', guard)).to.equal(undefined);
    expect(urlProblem('http://8.8.8.8/x', guard)).to.match(/^plain HTTP is only for/);
    expect(urlProblem('https://10.2.0.1/x', guard)).to.match(/^10\.2\.0\.1 is not public/);
    expect(urlProblem('https://user:pass@example.com/', guard)).to.match(/user name/);
    expect(urlProblem('https://example.com/#a', guard)).to.match(/fragment/);
    expect(urlProblem('https://:x', guard)).to.equal('is no URL');
  });

  it('is repeated after growing pauses of up to an hour', () => {
    const pauses = Array.from({ length: 12 }, (_, at) => backOff(at + 1, 0, 0.5) / 1000);
    expect(pauses).to.deep.equal([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
    expect([backOff(1, 0, 0), backOff(1, 0, 1)]).to.deep.equal([4_000, 6_000]);
    expect(backOff(1, 60_000, 0.5)).to.equal(60_000);
    expect(backOff(1, 86_400_000, 0.5)).to.equal(3_600_000);
    expect([1, 2, 3, 4, 30].map(restOf)).to.deep.equal([0, 0, 5_000, 10_000, 300_000]);
  });
});
