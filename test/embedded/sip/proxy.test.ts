import { expect } from 'chai';
import type { SipRequest } from '../../../runtime/embedded/stack/index.ts';
import { RawNode } from './raw-node.ts';
import { SipPeer } from './sip-peers.ts';
import { until } from './srf-client.ts';
import { parseMessage } from '../../../runtime/embedded/stack/index.ts';

/** A callee of the proxy. */
class Callee {
  readonly peer: SipPeer;
  readonly #server: number;
  constructor(peer: SipPeer, server: number) {
    this.peer = peer;
    this.#server = server;
  }

  get uri(): string {
    return `sip:callee@127.0.0.1:${this.peer.port}`;
  }

  async hears(method: string): Promise<SipRequest> {
    for (;;) {
      const text = await this.peer.inbox.take(2000);
      if (text === undefined) throw new Error(`no ${method}`);
      const message = parseMessage(Buffer.from(text, 'latin1'));
      if (message.kind === 'request' && message.method === method) return message;
    }
  }

  async says(request: SipRequest, status: string, extra: readonly string[] = []): Promise<void> {
    const vias = request.headers.filter(({ key }) => key === 'via').map(({ value }) => `Via: ${value}`);
    const routes = request.values('record-route').map((value) => `Record-Route: ${value}`);
    const to = request.header('to') ?? '';
    const lines = [
      `SIP/2.0 ${status}`,
      ...vias,
      ...routes,
      `From: ${request.header('from')}`,
      `To: ${to.includes(';tag=') ? to : `${to};tag=callee${this.peer.port}`}`,
      `Call-ID: ${request.callId}`,
      `CSeq: ${request.header('cseq')}`,
      ...extra,
      'Content-Length: 0',
    ];
    await this.peer.sendUdp(`${lines.join('\r\n')}\r\n\r\n`, this.#server);
  }
}

describe('proxying by the embedded SIP server', () => {
  let node: RawNode;
  let callees: Callee[];
  beforeEach(async () => {
    node = await RawNode.start(['invite', 'message']);
    callees = [];
    for (let i = 0; i < 3; i += 1) callees.push(new Callee(await SipPeer.open('127.0.0.1', 0), node.port));
  });
  afterEach(async () => {
    for (const { peer } of callees) peer.close();
    await node.close();
  });

  const callee = (i: number): Callee => callees[i] as Callee;

  async function call(options: string, destinations: readonly string[], method = 'INVITE'): Promise<void> {
    await node.say(method, ['Contact: <sip:alice@127.0.0.1>', 'X-From-Phone: 1']);
    const { fields } = await node.frame();
    node.app.send(
      `p|proxy|${fields[8]}|${options}|${destinations.join('|')}\r\n${method} sip:x SIP/2.0\r\nX-App: lab\r\n\r\n`,
    );
  }

  async function done(): Promise<string[]> {
    const statuses: string[] = [];
    for (;;) {
      const { fields, message } = await node.frame();
      if (fields[4] === 'done') return statuses;
      if (message?.kind === 'response') statuses.push(String(message.status));
    }
  }

  it('tries destinations in order, and forwards the first success', async () => {
    await call('|fullResponse||serial||', [callee(0).uri, callee(1).uri]);
    const first = await callee(0).hears('INVITE');
    expect(first.header('max-forwards')).to.equal('69');
    expect(first.header('x-app')).to.equal('lab');
    expect(first.header('x-from-phone')).to.equal('1');
    expect(first.values('via')).to.have.length(2);
    await callee(0).says(first, '486 Busy Here');
    await callee(0).hears('ACK');
    const second = await callee(1).hears('INVITE');
    await callee(1).says(second, '180 Ringing');
    await node.heard('180');
    await callee(1).says(second, '200 OK', [`Contact: <${callee(1).uri}>`]);
    const ok = await node.heard('200');
    expect(ok.values('via')).to.have.length(1);
    expect(await done()).to.deep.equal(['486', '200']);
  });

  it('rings all destinations at once, and cancels the others when one answers', async () => {
    await call(
      '|fullResponse||simultaneous||',
      callees.map(({ uri }) => uri),
    );
    const invites = await Promise.all(callees.map((one) => one.hears('INVITE')));
    for (const [i, invite] of invites.entries()) await callee(i).says(invite, '180 Ringing');
    await callee(1).says(invites[1] as SipRequest, '200 OK', [`Contact: <${callee(1).uri}>`]);
    await node.heard('200');
    for (const i of [0, 2]) {
      const cancel = await callee(i).hears('CANCEL');
      await callee(i).says(cancel, '200 OK');
      await callee(i).says(invites[i] as SipRequest, '487 Request Terminated');
      await callee(i).hears('ACK');
    }
    await done();
  });

  it('follows redirections only on request', async () => {
    await call('||followRedirects|serial||', [callee(0).uri]);
    await callee(0).says(await callee(0).hears('INVITE'), '302 Moved Temporarily', [`Contact: <${callee(1).uri}>;q=1`]);
    await callee(1).says(await callee(1).hears('INVITE'), '603 Decline');
    await node.heard('603');
    await done();
  });

  it('returns the best refusal when all destinations refuse', async () => {
    await call(
      '|||simultaneous||',
      callees.map(({ uri }) => uri),
    );
    for (const [i, status] of ['503 Service Unavailable', '404 Not Found', '486 Busy Here'].entries()) {
      await callee(i).says(await callee(i).hears('INVITE'), status);
    }
    await node.heard('404');
    await done();
  });

  it('leaves a silent destination after the provisional timeout', async () => {
    await call('|||serial|100ms|', [callee(0).uri, callee(1).uri]);
    await callee(0).hears('INVITE');
    await callee(1).says(await callee(1).hears('INVITE'), '480 Temporarily Unavailable');
    await node.heard('408');
    await done();
  });

  it('passes a CANCEL on, and the 487 back', async () => {
    await call('|||serial||', [callee(0).uri, callee(1).uri]);
    const invite = await callee(0).hears('INVITE');
    await callee(0).says(invite, '180 Ringing');
    await node.heard('180');
    await node.say('CANCEL', [], { branch: 'INVITE' });
    await node.heard('200');
    const cancel = await callee(0).hears('CANCEL');
    await callee(0).says(cancel, '200 OK');
    await callee(0).says(invite, '487 Request Terminated');
    await node.heard('487');
    await done();
    expect(callee(1).peer.inbox.left).to.deep.equal([]);
  });

  it('stays in the dialog with Record-Route, both ways, and drops it at BYE', async () => {
    await call('remainInDialog|||serial||', [callee(0).uri]);
    const invite = await callee(0).hears('INVITE');
    const [route = ''] = invite.values('record-route');
    expect(route).to.equal(`<sip:127.0.0.1:${node.port};lr>`);
    await callee(0).says(invite, '200 OK', [`Contact: <${callee(0).uri}>`]);
    const to = (await node.heard('200')).toTag ?? '';
    await done();
    await node.say('ACK', [`Route: ${route}`], { branch: 'ack', to });
    // The phone's helper addresses the server; its Route takes the request on to the callee's address only if that is
    // the request-URI, so the callee speaks from here on.
    const bye = `BYE sip:alice@127.0.0.1:${node.phone.port} SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:${callee(0).peer.port};branch=z9hG4bK-bye\r\nRoute: ${route}\r\nFrom: <sip:service@127.0.0.1>;tag=${to}\r\nTo: <sip:alice@127.0.0.1>;tag=alice1\r\nCall-ID: call-1\r\nCSeq: 1 BYE\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n`;
    await callee(0).peer.sendUdp(bye, node.port);
    const forwarded = (await node.heard('BYE')) as SipRequest;
    expect(forwarded.has('route')).to.equal(false);
    expect(forwarded.values('via')).to.have.length(2);
    const answer = [
      'SIP/2.0 200 OK',
      ...forwarded.headers.filter(({ key }) => key === 'via').map(({ value }) => `Via: ${value}`),
      `From: ${forwarded.header('from')}`,
      `To: ${forwarded.header('to')}`,
      'Call-ID: call-1',
      'CSeq: 1 BYE',
      'Content-Length: 0',
    ];
    await node.phone.sendUdp(`${answer.join('\r\n')}\r\n\r\n`, node.port);
    await until(() => callee(0).peer.inbox.left.some((text) => text.startsWith('SIP/2.0 200')), 'answer at the callee');
    await callee(0).peer.sendUdp(bye.replace('-bye', '-bye2').replace('CSeq: 1', 'CSeq: 2'), node.port);
    await until(() => callee(0).peer.inbox.left.some((text) => text.startsWith('SIP/2.0 481')), 'forgotten');
  });

  it('refuses to relay unknown calls', async () => {
    await node.say('BYE', [`Route: <sip:127.0.0.1:${node.port};lr>`], { to: 'x' });
    await node.heard('481');
  });

  it('forwards other methods, and refuses unsendable requests', async () => {
    await call('|||serial||', [callee(0).uri], 'MESSAGE');
    await callee(0).says(await callee(0).hears('MESSAGE'), '202 Accepted');
    await node.heard('202');
    await done();
    node.app.send('q|proxy|nosuch|||||||sip:a@b\r\nINVITE sip:x SIP/2.0\r\n\r\n');
    expect((await node.frame()).text).to.contain('|response|q|NOK|');
  });
});
