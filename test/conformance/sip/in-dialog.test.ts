import { expect } from 'chai';
import { header, type SipHeader } from '../../phones/sip/message.ts';
import { Moment } from '../../phones/wait.ts';
import { sdp } from '../support/sdp.ts';
import type { Dialog, Request, Response } from '../support/srf.ts';
import { useSipStage } from '../support/stage.ts';

/** Requests that either side may send, with headers and body. */
const REQUESTS: readonly { method: string; headers: Record<string, string>; body: string; status: number }[] = [
  {
    method: 'INFO',
    headers: { 'Content-Type': 'application/dtmf-relay' },
    body: 'Signal=5\r\nDuration=160\r\n',
    status: 200,
  },
  {
    method: 'NOTIFY',
    headers: { Event: 'refer', 'Subscription-State': 'active;expires=60', 'Content-Type': 'message/sipfrag' },
    body: 'SIP/2.0 100 Trying\r\n',
    status: 200,
  },
  { method: 'REFER', headers: { 'Refer-To': '<sip:carol@example.test>' }, body: '', status: 202 },
  { method: 'MESSAGE', headers: { 'Content-Type': 'text/plain' }, body: 'hello', status: 200 },
  { method: 'OPTIONS', headers: {}, body: '', status: 200 },
];

function headerLinesOf(headers: Record<string, string>): SipHeader[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

describe('Conformance, SIP server: requests inside a dialog', () => {
  const stage = useSipStage();

  for (const role of ['called', 'calling'] as const) {
    describe(`of the ${role} application`, () => {
      const connect = async () => {
        const agent = await stage.agent();
        const ends = role === 'called' ? await stage.answeredCall(agent) : await stage.madeCall(agent);
        return { agent, ...ends };
      };
      const hangUp = async (app: Dialog, agent: Awaited<ReturnType<typeof stage.agent>>) => {
        const ended = app.destroy();
        (await agent.request('BYE')).respond(200);
        await ended;
      };

      for (const { method, headers, body, status } of REQUESTS) {
        it(`receives ${method} and answers it`, async () => {
          const { agent, app, far } = await connect();
          const came = new Moment<{ request: Request; response: Response }>(method);
          app.on(method.toLowerCase(), (request: Request, response: Response) => came.reach({ request, response }));
          const asking = agent.inDialog(far, method, headerLinesOf(headers), body);
          const { request, response } = await came.wait(1000);
          expect(request.method).to.equal(method);
          expect(request.body).to.equal(body);
          for (const [name, value] of Object.entries(headers)) expect(request.get(name), name).to.equal(value);
          response.send(status, { headers: { 'X-App': 'lab' } });
          const answer = await asking;
          expect(answer?.status).to.equal(status);
          expect(answer === undefined ? undefined : header(answer, 'x-app')).to.equal('lab');
          await hangUp(app, agent);
        });

        it(`sends ${method} and gets the answer`, async () => {
          const { agent, app, far } = await connect();
          const asking = app.request({ method, headers, ...(body === '' ? {} : { body }) });
          const transaction = await agent.request(method);
          expect(far.receive(transaction.request)).to.deep.equal([]);
          expect(transaction.request.body).to.equal(body);
          for (const [name, value] of Object.entries(headers)) {
            expect(header(transaction.request, name), name).to.equal(value);
          }
          transaction.respond(status);
          expect((await asking).status).to.equal(status);
          await hangUp(app, agent);
        });
      }

      it('receives a re-INVITE and answers it with new SDP', async () => {
        const { agent, app, far } = await connect();
        const came = new Moment<{ request: Request; response: Response }>('modify');
        app.on('modify', (request: Request, response: Response) => came.reach({ request, response }));
        const hold = sdp(41_000, 2, 'sendonly');
        const asking = agent.inDialog(far, 'INVITE', [], hold);
        const { request, response } = await came.wait(1000);
        expect(request.body).to.equal(hold);
        response.send(200, { body: sdp(20_000, 2, 'recvonly') });
        const answer = await asking;
        expect(answer?.status).to.equal(200);
        expect(answer?.body).to.equal(sdp(20_000, 2, 'recvonly'));
        if (answer === undefined) return;
        const number = far.lastCSeq;
        agent.endpoint.sendAck(far.request('ACK', [], '', number), agent.endpoint.peerOf(far.nextHop));
        await hangUp(app, agent);
      });

      it('refuses a re-INVITE, and the dialog continues', async () => {
        const { agent, app, far } = await connect();
        app.on('modify', (_request: Request, response: Response) => response.send(488));
        expect((await agent.inDialog(far, 'INVITE', [], sdp(41_000, 2)))?.status).to.equal(488);
        await hangUp(app, agent);
      });

      it('receives UPDATE with SDP', async () => {
        const { agent, app, far } = await connect();
        app.on('modify', (request: Request, response: Response) =>
          response.send(request.method === 'UPDATE' ? 200 : 500, { body: sdp(20_000, 2) }),
        );
        app.on('update', (_request: Request, response: Response) => response.send(200, { body: sdp(20_000, 2) }));
        const answer = await agent.inDialog(far, 'UPDATE', [], sdp(41_000, 2));
        expect(answer?.status).to.equal(200);
        expect(answer?.body).to.equal(sdp(20_000, 2));
        await hangUp(app, agent);
      });

      it('sends a re-INVITE and acknowledges its answer', async () => {
        const { agent, app, far } = await connect();
        const modifying = app.modify(sdp(20_000, 2, 'inactive'));
        const invite = await agent.request('INVITE');
        expect(far.receive(invite.request)).to.deep.equal([]);
        expect(invite.request.body).to.equal(sdp(20_000, 2, 'inactive'));
        invite.respond(200, {
          headers: [agent.contact, { name: 'Content-Type', value: 'application/sdp' }],
          body: sdp(41_000, 2, 'inactive'),
        });
        expect(await modifying).to.equal(sdp(41_000, 2, 'inactive'));
        expect((await invite.acked).method).to.equal('ACK');
        await hangUp(app, agent);
      });

      it('gets the refusal of its re-INVITE, and the dialog continues', async () => {
        const { agent, app } = await connect();
        const refused = app.modify(sdp(20_000, 2)).then(
          () => undefined,
          (error: unknown) => (error as { status?: number }).status,
        );
        const invite = await agent.request('INVITE');
        invite.respond(491);
        expect(await refused).to.equal(491);
        expect((await invite.acked).method).to.equal('ACK');
        await hangUp(app, agent);
      });
    });
  }

  it('ends its dialog when its BYE is answered with 481', async () => {
    const agent = await stage.agent();
    const { app } = await stage.answeredCall(agent);
    const ended = app.destroy();
    (await agent.request('BYE')).respond(481);
    await ended;
    const again = await app.request({ method: 'INFO' }).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    expect(again).to.equal('Server error: unable to find dialog for dialog id provided');
  });
});
