import { expect } from 'chai';
import { header, headerLines, token } from '../../phones/sip/message.ts';
import type { IncomingResponse } from '../support/srf.ts';
import { Moment } from '../../phones/wait.ts';
import { useSipStage } from '../support/stage.ts';

const EVENT = { name: 'Event', value: 'message-summary' };

describe('Conformance, SIP server: requests outside calls', () => {
  const stage = useSipStage(['invite', 'options', 'register', 'message', 'subscribe', 'publish', 'notify']);

  for (const method of ['OPTIONS', 'MESSAGE', 'PUBLISH', 'NOTIFY']) {
    it(`receives ${method} with body and headers, and sends the application's response`, async () => {
      const agent = await stage.agent();
      const asking = agent.send(method, stage.target, {
        headers: [
          { name: 'Event', value: 'presence' },
          { name: 'Content-Type', value: 'text/plain' },
          { name: 'X-Far', value: 'end' },
        ],
        body: 'hello',
      });
      const { request, response } = await stage.incoming(method.toLowerCase());
      expect(request.method).to.equal(method);
      expect(request.body).to.equal('hello');
      expect(request.get('X-Far')).to.equal('end');
      response.send(200, { headers: { 'X-App': 'lab' } });
      const answer = await asking;
      expect(answer?.status).to.equal(200);
      expect(answer === undefined ? '' : header(answer, 'x-app')).to.equal('lab');
    });
  }

  it('leaves REGISTER to the application: challenge, contacts, expiry', async () => {
    const agent = await stage.agent();
    const first = agent.send('REGISTER', `sip:${stage.hostPort}`);
    const challenge = 'Digest realm="lab.local", nonce="abc", algorithm=MD5, qop="auth"';
    const unknown = await stage.incoming('register');
    expect(unknown.request.get('Contact')).to.equal(`<${agent.uri}>`);
    unknown.response.send(401, { headers: { 'WWW-Authenticate': challenge } });
    const refused = await first;
    expect(refused?.status).to.equal(401);
    expect(refused === undefined ? [] : headerLines(refused, 'www-authenticate')).to.deep.equal([challenge]);
    const second = agent.send('REGISTER', `sip:${stage.hostPort}`, {
      headers: [
        {
          name: 'Authorization',
          value: 'Digest username="far", realm="lab.local", nonce="abc", uri="sip:x", response="0"',
        },
        { name: 'Expires', value: '300' },
      ],
    });
    const known = await stage.incoming('register');
    expect(known.request.get('Authorization')).to.match(/^Digest username="far"/);
    expect(known.request.get('Expires')).to.equal('300');
    known.response.send(200, { headers: { Contact: `<${agent.uri}>;expires=300` } });
    const accepted = await second;
    expect(accepted?.status).to.equal(200);
    expect(accepted === undefined ? '' : header(accepted, 'contact')).to.equal(`<${agent.uri}>;expires=300`);
  });

  it("sends the application's OPTIONS and MESSAGE, and returns the responses", async () => {
    const agent = await stage.agent();
    for (const method of ['OPTIONS', 'MESSAGE']) {
      const body = method === 'MESSAGE' ? { body: 'hello bob', headers: { 'Content-Type': 'text/plain' } } : {};
      const sent = await stage.srf.request(agent.uri, { method, ...body });
      const answered = new Moment<IncomingResponse>(`answer to ${method}`);
      sent.on('response', (response: IncomingResponse) => answered.reach(response));
      const transaction = await agent.request(method);
      expect(transaction.request.uri).to.equal(agent.uri);
      expect(transaction.request.body).to.equal(method === 'MESSAGE' ? 'hello bob' : '');
      expect(header(transaction.request, 'contact'), 'Contact').to.equal(undefined);
      transaction.respond(200, { headers: [{ name: 'X-Far', value: 'end' }] });
      const response = await answered.wait(1000);
      expect(response.status).to.equal(200);
      expect(response.get('X-Far')).to.equal('end');
    }
  });

  it('a subscription is a dialog that receives NOTIFY', async () => {
    const agent = await stage.agent();
    const options = { method: 'SUBSCRIBE', headers: { Event: 'presence', Expires: '60' } };
    const making = stage.srf.createUAC(agent.uri, options);
    const subscribe = await agent.request('SUBSCRIBE');
    expect(header(subscribe.request, 'event')).to.equal('presence');
    expect(headerLines(subscribe.request, 'contact')).to.have.length(1);
    subscribe.respond(200, { headers: [agent.contact, { name: 'Expires', value: '60' }] });
    const dialog = await making;
    expect(dialog.sip.remoteTag).to.equal(subscribe.localTag);
  });

  it('a SUBSCRIBE of a subscription that the server does not know reaches the application, with its tags', async () => {
    const agent = await stage.agent();
    const to = { name: 'To', value: `<${stage.target}>;tag=of-earlier` };
    const headers = [to, { name: 'From', value: `<${agent.uri}>;tag=far` }, { name: 'Call-ID', value: token() }];
    for (const cseq of ['7', '8']) {
      const asking = agent.endpoint.send(
        {
          kind: 'request',
          method: 'SUBSCRIBE',
          uri: stage.target,
          headers: [...headers, { name: 'CSeq', value: `${cseq} SUBSCRIBE` }, agent.contact, EVENT],
          body: '',
        },
        agent.endpoint.peerOf(stage.target),
      ).final;
      const { request, response } = await stage.incoming('subscribe');
      expect(request.get('To')).to.equal(to.value);
      response.send(200, { headers: { Expires: '60' } });
      const answer = await asking;
      expect(answer?.status).to.equal(200);
      expect(answer === undefined ? '' : header(answer, 'to')).to.equal(to.value);
    }
  });

  it('a request without Call-ID is answered with 400 by the server itself', async () => {
    const agent = await stage.agent();
    const answer = await agent.endpoint.send(
      {
        kind: 'request',
        method: 'OPTIONS',
        uri: stage.target,
        headers: [
          { name: 'From', value: '<sip:far@127.0.0.1>;tag=x' },
          { name: 'To', value: `<${stage.target}>` },
          { name: 'CSeq', value: '1 OPTIONS' },
        ],
        body: '',
      },
      agent.endpoint.peerOf(stage.target),
    ).final;
    expect(answer?.status).to.equal(400);
    agent.forgive(/no call-id header/);
  });
});
