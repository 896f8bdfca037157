import { expect } from 'chai';
import { observeFor } from '../../phones/wait.ts';
import { Agent } from '../support/agent.ts';
import { AppPort, frame } from '../support/app-port.ts';
import { type Held, sipServer } from '../support/servers.ts';
import { connectRoutedApp } from '../support/routed-app.ts';
import { connectApp } from '../support/srf.ts';

describe('Conformance, SIP server: app protocol', () => {
  let server: Held;
  const open: { close(): unknown }[] = [];
  const keep = <T extends { close(): unknown }>(thing: T): T => {
    open.push(thing);
    return thing;
  };

  before(async () => {
    server = await sipServer();
  });
  afterEach(async () => {
    for (const thing of open.splice(0)) await thing.close();
  });
  after(() => server.close());

  it('an accepted application learns addresses and version of the server', async () => {
    const port = keep(await AppPort.open(server.address));
    const fields = await port.ask(`authenticate|${server.address.secret}|`);
    expect(fields[0]).to.equal('OK');
    expect(fields[1]?.split(',')).to.satisfy((list: string[]) =>
      list.every((entry) => /^(udp|tcp|tls|ws|wss)\/127\.0\.0\.1:\d+$/.test(entry)),
    );
    expect(fields[1]).to.include('udp/').and.include('tcp/');
    expect(fields[2]).to.match(/^v\d+\.\d+\.\d+/);
    expect(fields).to.have.length(4);
  });

  it('a wrong secret is refused and the connection closed', async () => {
    const port = keep(await AppPort.open(server.address));
    expect(await port.ask('authenticate|wrong|')).to.deep.equal(['NO', 'incorrect secret']);
    await port.closed();
  });

  it('drachtio-srf is told about a wrong secret', async () => {
    const refused = connectApp({ ...server.address, secret: 'wrong' });
    const error = await refused.then(
      () => undefined,
      (err: unknown) => err as Error,
    );
    expect(error?.message).to.equal('failed to authenticate to server');
  });

  it('ping is answered with pong', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    expect(await port.ask('ping')).to.deep.equal(['OK', 'pong']);
  });

  it('frames are read for any division of the stream', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    const whole = ['a', 'b', 'c'].map((id) => frame(`${id}|ping`)).join('');
    for (const cut of [1, 2, 3, 8, whole.length - 1]) {
      port.write(whole.slice(0, cut));
      // A second write in a separate segment.
      await observeFor(5);
      port.write(whole.slice(cut));
      for (const id of ['a', 'b', 'c']) {
        expect((await port.next()).split('|').slice(1), `cut at ${cut}`).to.deep.equal(['response', id, 'OK', 'pong']);
      }
    }
  });

  for (const [what, bytes] of [
    ['no number', 'abc#'],
    ['seven digits', '1234567#'],
  ] as const) {
    it(`a length with ${what} closes the connection`, async () => {
      const port = keep(await AppPort.authenticated(server.address));
      port.write(`${bytes}x|ping`);
      await port.closed();
    });
  }

  it('an unknown kind of message is refused and closes the connection', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    expect(await port.ask('nosuch|x')).to.deep.equal(['NO', 'Unknown message type']);
    await port.closed();
  });

  it('repeated routes and their removal are accepted', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    for (const message of ['route|publish', 'route|publish', 'remove_route|publish', 'remove_route|publish']) {
      expect(await port.ask(message), message).to.deep.equal(['OK']);
    }
  });

  it('a response to an unknown transaction gets NOK, and the connection stays open', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    const [status, reason] = await port.ask(
      'sip|1a5a2ece-9279-4bd8-8c73-0343c58b0fac|\r\nSIP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n',
    );
    expect([status, reason]).to.deep.equal(['NOK', 'Response not sent due to unknown transaction']);
    expect(await port.ask('ping')).to.deep.equal(['OK', 'pong']);
  });

  it('a response without a transaction closes the connection', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    expect(await port.ask('sip||\r\nSIP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n')).to.deep.equal([
      'NO',
      'transaction id missing',
    ]);
    await port.closed();
  });

  it('a request in an unknown dialog gets NOK', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    expect(
      await port.ask('sip||no-such-dialog\r\nINFO sip:placeholder SIP/2.0\r\nContent-Length: 0\r\n\r\n'),
    ).to.deep.equal(['NOK', 'Server error: unable to find dialog for dialog id provided']);
  });

  it('a CANCEL of an unknown transaction gets NOK, which names it', async () => {
    const port = keep(await AppPort.authenticated(server.address));
    const id = 'd36a8a25-72ab-46d3-a883-4653716670ac';
    expect(
      await port.ask(`sip|${id}|\r\nCANCEL sip:bob@127.0.0.1:15999 SIP/2.0\r\nContent-Length: 0\r\n\r\n`),
    ).to.deep.equal(['NOK', `unable to cancel unknown transaction id: ${id}`]);
  });

  it('a bare request is completed, and the sent and received messages are reported', async () => {
    const agent = keep(await Agent.open());
    const port = keep(await AppPort.authenticated(server.address));
    const asked = port.ask(`sip||\r\nOPTIONS ${agent.uri} SIP/2.0\r\n\r\n`);
    const transaction = await agent.request('OPTIONS');
    const echo = await asked;
    expect(echo.slice(0, 2)).to.deep.equal(['OK', 'application']);
    expect(echo[3]).to.equal('udp');
    expect(echo[6]).to.match(/^\d\d:\d\d:\d\d\.\d{6}$/);
    expect(echo[8]).to.equal('Msg sent:');
    const sent = echo.slice(9).join('|');
    expect(Buffer.byteLength(sent.replace(/^\r?\n/, '')), 'byte count').to.equal(Number(echo[2]));
    for (const name of ['Via', 'Max-Forwards', 'From', 'To', 'Call-ID', 'CSeq', 'Content-Length']) {
      expect(sent, name).to.match(new RegExp(`^${name}: `, 'm'));
    }
    expect(sent).not.to.match(/^Contact: /m);
    transaction.respond(200);
    const answer = (await port.next()).split('|');
    expect(answer.slice(1, 3)).to.deep.equal(['sip', 'network']);
    expect(answer[8], 'transaction').to.equal(echo[7]);
    expect(agent.violations).to.deep.equal([]);
  });

  it('applications with the same route get requests in turn', async () => {
    const agent = keep(await Agent.open());
    const answered: string[] = [];
    const routes = (name: string) =>
      connectRoutedApp(server.address, (srf) =>
        srf.use('publish', (_request, response) => {
          answered.push(name);
          response.send(200);
        }),
      );
    const first = keep(await routes('first'));
    keep(await routes('second'));
    const ask = async (times: number): Promise<void> => {
      for (let count = 0; count < times; count += 1) await agent.send('PUBLISH', `sip:x@${first.sip}`);
    };
    // The real server removes a closed application only at its next turn.
    await ask(12);
    answered.length = 0;
    await ask(4);
    expect([...answered].toSorted()).to.deep.equal(['first', 'first', 'second', 'second']);
    expect(answered[0]).not.to.equal(answered[1]);
    expect(answered[0]).to.equal(answered[2]);
  });

  it('a request without a route is refused with 503', async () => {
    const agent = keep(await Agent.open());
    const app = keep(await connectApp(server.address));
    expect((await agent.send('INVITE', `sip:x@${app.sip}`))?.status).to.equal(503);
    expect((await agent.send('OPTIONS', `sip:x@${app.sip}`))?.status).to.equal(503);
    expect(agent.violations).to.deep.equal([]);
  });

  it('BYE without a dialog is answered with 481 by the server itself', async () => {
    const agent = keep(await Agent.open());
    const app = keep(await connectApp(server.address));
    const stray = {
      kind: 'request' as const,
      method: 'BYE',
      uri: `sip:${app.sip}`,
      headers: [
        { name: 'From', value: '<sip:far@127.0.0.1>;tag=stray' },
        { name: 'To', value: '<sip:x@127.0.0.1>;tag=nobody' },
        { name: 'Call-ID', value: 'stray@127.0.0.1' },
        { name: 'CSeq', value: '7 BYE' },
      ],
      body: '',
    };
    const response = await agent.endpoint.send(stray, agent.endpoint.peerOf(`sip:${app.sip}`)).final;
    expect(response?.status).to.equal(481);
  });
});
