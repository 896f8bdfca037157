import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { header, headerLines } from '../../phones/sip/message.ts';
import { Moment } from '../../phones/wait.ts';
import { freeSipPort } from '../../support/ports.ts';
import { sdp } from '../support/sdp.ts';
import type { IncomingResponse, Request } from '../support/srf.ts';
import { useSipStage } from '../support/stage.ts';

interface SipFailure {
  readonly status?: number;
  readonly message: string;
}

async function failureOf(work: Promise<unknown>): Promise<SipFailure> {
  return work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error as SipFailure,
  );
}

describe('Conformance, SIP server: outgoing calls of the application', () => {
  const stage = useSipStage();

  it('the server completes the INVITE: Via, tag, Call-ID, CSeq, Max-Forwards, Contact, type of the body', async () => {
    const agent = await stage.agent();
    const sent = new Moment<Request>('INVITE sent');
    const making = stage.srf.createUAC(
      agent.uri,
      { localSdp: sdp(20_000), headers: { 'X-App': 'lab' } },
      { cbRequest: (_err, request) => sent.reach(request) },
    );
    const invite = await agent.request('INVITE');
    const { request } = invite;
    expect(request.uri).to.equal(agent.uri);
    expect(header(request, 'from')).to.match(new RegExp(`^<sip:${stage.hostPort}>;tag=\\S+$`));
    expect(header(request, 'to')).to.equal(`<${agent.uri}>`);
    expect(header(request, 'contact')).to.equal(`<sip:${stage.hostPort}>`);
    expect(header(request, 'content-type')).to.equal('application/sdp');
    expect(header(request, 'max-forwards')).to.equal('70');
    expect(header(request, 'x-app')).to.equal('lab');
    expect(request.body).to.equal(sdp(20_000));
    expect((await sent.wait(1000)).get('Call-ID')).to.equal(header(request, 'call-id'));
    const { dialog: far, ack } = await agent.answer(invite);
    expect(ack.body).to.equal('');
    const dialog = await making;
    expect(dialog.sip).to.deep.include({ callId: far.callId, localTag: far.remoteTag, remoteTag: far.localTag });
    expect(dialog.remote.sdp).to.equal(sdp(41_000));
    const ended = dialog.destroy();
    const bye = await agent.request('BYE');
    expect(far.receive(bye.request)).to.deep.equal([]);
    bye.respond(200);
    await ended;
  });

  it("Call-ID, From and To of the application are kept, with the server's address in place of localhost", async () => {
    const agent = await stage.agent();
    const failing = failureOf(
      stage.srf.createUAC(agent.uri, {
        localSdp: sdp(),
        headers: {
          'Call-ID': 'chosen-by-the-application',
          From: '"Alice" <sip:alice@localhost>',
          To: '<sip:bob@example.test>',
          Contact: '<sip:alice@localhost>',
        },
      }),
    );
    const invite = await agent.request('INVITE');
    expect(header(invite.request, 'call-id')).to.equal('chosen-by-the-application');
    expect(header(invite.request, 'from')).to.match(new RegExp(`^"?Alice"? <sip:alice@${stage.hostPort}>;tag=`));
    expect(header(invite.request, 'to')).to.equal('<sip:bob@example.test>');
    expect(header(invite.request, 'contact')).to.match(new RegExp(`<sip:alice@${stage.hostPort}`));
    invite.respond(404);
    await failing;
  });

  it('provisional responses with early media are reported, but not the 100', async () => {
    const agent = await stage.agent();
    const seen: IncomingResponse[] = [];
    const making = stage.srf.createUAC(agent.uri, { localSdp: sdp() }, { cbProvisional: (res) => seen.push(res) });
    const invite = await agent.request('INVITE');
    invite.respond(100);
    invite.respond(180, { headers: [agent.contact] });
    invite.respond(183, {
      headers: [agent.contact, { name: 'Content-Type', value: 'application/sdp' }],
      body: sdp(42_000),
    });
    const { dialog: far } = await agent.answer(invite);
    const dialog = await making;
    expect(seen.map(({ status }) => status)).to.deep.equal([180, 183]);
    expect(seen[1]?.body).to.equal(sdp(42_000));
    const ended = new Moment<true>('destroy');
    dialog.on('destroy', () => ended.reach(true));
    expect((await agent.inDialog(far, 'BYE'))?.status).to.equal(200);
    await ended.wait(1000);
  });

  it('a reliable 183 is acknowledged with PRACK', async () => {
    const agent = await stage.agent();
    const making = stage.srf.createUAC(agent.uri, { localSdp: sdp(), headers: { Supported: '100rel' } });
    const invite = await agent.request('INVITE');
    const type = { name: 'Content-Type', value: 'application/sdp' };
    const rel = [
      { name: 'Require', value: '100rel' },
      { name: 'RSeq', value: '4711' },
    ];
    invite.respond(183, { headers: [agent.contact, type, ...rel], body: sdp(42_000) });
    const prack = await agent.request('PRACK');
    const cseq = header(invite.request, 'cseq')?.split(' ')[0];
    expect(header(prack.request, 'rack')).to.equal(`4711 ${cseq} INVITE`);
    expect(prack.request.uri).to.equal(agent.uri);
    prack.respond(200);
    await agent.answer(invite);
    const ended = (await making).destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
  });

  it('reliable responses are acknowledged only in order (RFC 3262 section 4)', async () => {
    const agent = await stage.agent();
    const provisional: number[] = [];
    const making = stage.srf.createUAC(
      agent.uri,
      { localSdp: sdp(), headers: { Supported: '100rel' } },
      { cbProvisional: ({ status }) => provisional.push(status) },
    );
    const invite = await agent.request('INVITE');
    const answer = (status: number, rseq: number): void => {
      const rel = [
        { name: 'Require', value: '100rel' },
        { name: 'RSeq', value: String(rseq) },
      ];
      invite.respond(status, { headers: [agent.contact, ...rel] });
    };
    const acknowledged = async (): Promise<string | undefined> => {
      const prack = await agent.request('PRACK');
      prack.respond(200);
      return header(prack.request, 'rack')?.split(' ')[0];
    };
    answer(183, 10);
    expect(await acknowledged()).to.equal('10');
    answer(180, 12);
    answer(182, 11);
    expect(await acknowledged()).to.equal('11');
    answer(180, 12);
    expect(await acknowledged()).to.equal('12');
    await agent.answer(invite);
    const ended = (await making).destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
    expect(provisional).to.deep.equal([183, 182, 180]);
  });

  it('a body without a content type is refused', async () => {
    const agent = await stage.agent();
    const failing = failureOf(stage.srf.request(agent.uri, { method: 'MESSAGE', body: 'hello' }));
    expect((await failing).message).to.equal('missing content-type');
    const { app } = await stage.madeCall(agent);
    const inside = failureOf(app.request({ method: 'INFO', body: 'hello' }));
    expect((await inside).message).to.contain('missing content-type');
  });

  for (const status of [404, 480, 486, 500, 603]) {
    it(`the application gets the refusal ${status}, and the server acknowledges it`, async () => {
      const agent = await stage.agent();
      const failing = failureOf(stage.srf.createUAC(agent.uri, { localSdp: sdp() }));
      const invite = await agent.request('INVITE');
      invite.respond(status);
      expect((await failing).status).to.equal(status);
      expect((await invite.acked).method).to.equal('ACK');
    });
  }

  it('only the application may follow a redirection', async () => {
    const agent = await stage.agent();
    const elsewhere = await stage.agent();
    const failing = failureOf(stage.srf.createUAC(agent.uri, { localSdp: sdp() }));
    const contact = { name: 'Contact', value: `<${elsewhere.uri}>` };
    (await agent.request('INVITE')).respond(302, { headers: [contact] });
    expect((await failing).status).to.equal(302);
    const making = stage.srf.createUAC(agent.uri, { localSdp: sdp(), followRedirects: true });
    (await agent.request('INVITE')).respond(302, { headers: [contact] });
    await elsewhere.answer(await elsewhere.request('INVITE'));
    const ended = (await making).destroy();
    (await elsewhere.request('BYE')).respond(200);
    await ended;
  });

  it('a ringing call is cancelled: CANCEL, then 487', async () => {
    const agent = await stage.agent();
    const sent = new Moment<Request>('INVITE sent');
    const ringing = new Moment<true>('180');
    const failing = failureOf(
      stage.srf.createUAC(
        agent.uri,
        { localSdp: sdp() },
        { cbRequest: (_err, request) => sent.reach(request), cbProvisional: () => ringing.reach(true) },
      ),
    );
    const invite = await agent.request('INVITE');
    invite.respond(180);
    await ringing.wait(1000);
    (await sent.wait(1000)).cancel();
    expect(await agent.cancelled()).to.equal(invite);
    invite.respond(487);
    expect((await failing).status).to.equal(487);
    await invite.acked;
  });

  it('a call whose answer crosses the CANCEL is ended', async () => {
    const agent = await stage.agent();
    const sent = new Moment<Request>('INVITE sent');
    const making = stage.srf.createUAC(
      agent.uri,
      { localSdp: sdp() },
      { cbRequest: (_err, request) => sent.reach(request) },
    );
    const invite = await agent.request('INVITE');
    invite.respond(100);
    (await sent.wait(1000)).cancel();
    await agent.cancelled();
    await agent.answer(invite);
    await making;
    const bye = await agent.request('BYE');
    expect(header(bye.request, 'reason')).to.equal('SIP;cause=200;text="ACK-BYE due to cancel race condition"');
    bye.respond(200);
  });

  for (const [status, asks, answers] of [
    [407, 'Proxy-Authenticate', 'Proxy-Authorization'],
    [401, 'WWW-Authenticate', 'Authorization'],
  ] as const) {
    it(`a ${status} is answered with the application's credentials, in the same call`, async () => {
      const agent = await stage.agent();
      const making = stage.srf.createUAC(agent.uri, {
        localSdp: sdp(),
        auth: { username: 'alice', password: 'wonderland' },
      });
      const text = 'Digest realm="lab.local", nonce="47ebe028cda119c3", algorithm=MD5, qop="auth"';
      const first = await agent.request('INVITE');
      first.respond(status, { headers: [{ name: asks, value: text }] });
      const second = await agent.request('INVITE');
      expect(header(second.request, 'call-id')).to.equal(header(first.request, 'call-id'));
      const numbers = [first, second].map(({ request }) => Number.parseInt(header(request, 'cseq') ?? '', 10));
      expect(numbers[1]).to.equal((numbers[0] ?? 0) + 1);
      expect(headerLines(second.request, answers)).to.have.length(1);
      const given = header(second.request, answers) ?? '';
      const cnonce = /cnonce="?([^",]+)/.exec(given)?.[1];
      const response = /response="([0-9a-f]+)"/.exec(given)?.[1];
      expect(given).to.include('username="alice"').and.include(`uri="${agent.uri}"`);
      expect(response).to.equal(expectedDigest(agent.uri, cnonce));
      await agent.answer(second);
      const ended = (await making).destroy();
      (await agent.request('BYE')).respond(200);
      await ended;
    });
  }

  it('a closed port fails with 503 at once, by UDP and by TCP', async () => {
    const port = await freeSipPort();
    for (const uri of [`sip:nobody@127.0.0.1:${port}`, `sip:nobody@127.0.0.1:${port};transport=tcp`]) {
      const started = Date.now();
      expect((await failureOf(stage.srf.createUAC(uri, { localSdp: sdp() }))).status, uri).to.equal(503);
      expect(Date.now() - started, uri).to.be.lessThan(2000);
    }
  });

  it('an unresolvable name fails with 503', async () => {
    const failure = await failureOf(stage.srf.createUAC('sip:bob@no-such-host.invalid', { localSdp: sdp() }));
    expect(failure.status).to.equal(503);
  });

  it('sips without TLS fails with 416', async function () {
    if (stage.listener('tls') !== undefined) this.skip();
    const failure = await failureOf(stage.srf.createUAC('sips:bob@127.0.0.1:15999', { localSdp: sdp() }));
    expect(failure.status).to.equal(416);
  });

  it("the application's proxy gets the INVITE with an unchanged Request-URI", async () => {
    const agent = await stage.agent();
    const failing = failureOf(
      stage.srf.createUAC('sip:bob@example.test', {
        localSdp: sdp(),
        proxy: `sip:${agent.endpoint.hostPort}`,
      }),
    );
    const invite = await agent.request('INVITE');
    expect(invite.request.uri).to.equal('sip:bob@example.test');
    invite.respond(486);
    expect((await failing).status).to.equal(486);
  });

  it('calls work over TCP', async () => {
    const agent = await stage.agent('tcp');
    const making = stage.srf.createUAC(agent.uri, { localSdp: sdp() });
    const invite = await agent.request('INVITE');
    expect(header(invite.request, 'via')).to.match(/^SIP\/2\.0\/TCP /);
    await agent.answer(invite);
    const ended = (await making).destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
  });

  it('without SDP the INVITE has no offer, and the ACK has the answer', async () => {
    const agent = await stage.agent();
    const making = stage.srf.createUAC(agent.uri, { noAck: true }) as Promise<unknown> as Promise<{
      sdp: string;
      ack(answer: string): Promise<{ destroy(): Promise<unknown> }>;
    }>;
    const invite = await agent.request('INVITE');
    expect(invite.request.body).to.equal('');
    expect(header(invite.request, 'content-type')).to.equal(undefined);
    const answering = agent.answer(invite, sdp(43_000));
    const offered = await making;
    expect(offered.sdp).to.equal(sdp(43_000));
    const dialog = await offered.ack(sdp(20_000));
    const { ack } = await answering;
    expect(ack.body).to.equal(sdp(20_000));
    expect(header(ack, 'content-type')).to.equal('application/sdp');
    const ended = dialog.destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
  });
});

/** RFC 2617 section 3.2.2.1 for the credentials and the challenge of these tests. */
function expectedDigest(uri: string, cnonce: string | undefined): string {
  const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
  const middle = cnonce === undefined ? '' : `00000001:${cnonce}:auth:`;
  return md5(`${md5('alice:lab.local:wonderland')}:47ebe028cda119c3:${middle}${md5(`INVITE:${uri}`)}`);
}
