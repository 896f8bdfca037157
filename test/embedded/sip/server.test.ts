import { createServer } from 'node:net';
import { expect } from 'chai';
import { ListenError, startSipServer } from '../../../runtime/embedded/index.ts';
import {
  connectSrf,
  FAST,
  failure,
  type Handler,
  type Node,
  SDP,
  type SrfDialog,
  type SrfRequest,
  type SrfResponse,
  startNode,
  until,
} from './srf-client.ts';

const OUTSIDE = ['OPTIONS', 'REGISTER', 'MESSAGE', 'INFO', 'NOTIFY', 'SUBSCRIBE', 'PUBLISH'] as const;

describe('embedded SIP server with drachtio-srf', () => {
  let a: Node;
  let b: Node;
  let answer: Handler = (_req, res) => res.send(486);

  before(async () => {
    [a, b] = await Promise.all([startNode({ timerValues: FAST }), startNode({ timerValues: FAST })]);
    b.srf.invite((req, res) => void answer(req, res));
    for (const method of OUTSIDE) {
      b.srf.use(method.toLowerCase(), (req, res) => {
        const seen = `${req.protocol} ${req.getParsedHeader('from').uri} ${req.body}`;
        res.send(200, { headers: { 'X-Seen': seen, Contact: '<sip:b@127.0.0.1>' } });
      });
    }
  });
  after(async () => {
    await Promise.all([a.close(), b.close()]);
  });

  async function nothingLeft(): Promise<void> {
    for (const { server } of [a, b]) {
      await until(async () => {
        const { dialogs, transactions, pending, timers } = await server.stats();
        return dialogs + transactions + pending + timers === 0;
      }, 'every dialog, transaction and timer gone');
    }
  }

  for (const transport of ['udp', 'tcp']) {
    describe(`over ${transport}`, () => {
      const uri = (user: string): string => `sip:${user}@${b.sip};transport=${transport}`;

      it('calls, talks in the dialog both ways, modifies both ways, hangs up', async () => {
        const uasReady = Promise.withResolvers<SrfDialog>();
        answer = async (req, res) => uasReady.resolve(await b.srf.createUAS(req, res, { localSdp: SDP }));
        const uac = await a.srf.createUAC(uri('bob'), { localSdp: SDP });
        const uas = await uasReady.promise;
        expect(uac.remote.sdp).to.equal(SDP);
        const seen: string[] = [];
        for (const [who, dialog] of [
          ['uac', uac],
          ['uas', uas],
        ] as const) {
          for (const event of ['info', 'notify', 'message', 'refer', 'update', 'options'] as const) {
            dialog.on(event, (req: SrfRequest, res: SrfResponse) => {
              seen.push(`${who} ${req.method} ${req.body}`);
              res.send(req.method === 'REFER' ? 202 : 200);
            });
          }
          dialog.on('modify', (req: SrfRequest, res: SrfResponse) => {
            seen.push(`${who} re-INVITE`);
            res.send(200, { body: req.body });
          });
        }
        const headers = {
          'Content-Type': 'text/plain',
          Event: 'talk',
          'Subscription-State': 'active',
          'Refer-To': '<sip:c@d>',
        };
        for (const dialog of [uac, uas]) {
          for (const method of ['INFO', 'NOTIFY', 'MESSAGE', 'REFER', 'UPDATE', 'OPTIONS'] as const) {
            const response = await dialog.request({ method, headers, body: 'x' });
            expect(response.status).to.equal(method === 'REFER' ? 202 : 200);
          }
          await dialog.modify(SDP.replace('20000', '30000'));
        }
        const methods = ['INFO x', 'NOTIFY x', 'MESSAGE x', 'REFER x', 'UPDATE x', 'OPTIONS x', 're-INVITE'];
        expect(seen).to.deep.equal([...methods.map((m) => `uas ${m}`), ...methods.map((m) => `uac ${m}`)]);
        const gone = new Promise<void>((resolve) => uas.on('destroy', () => resolve()));
        await uac.destroy();
        await gone;
      });

      it('passes refusals with their reason and headers', async () => {
        answer = (_req, res) => res.send(486, 'Besetzt', { headers: { 'X-Why': 'busy', 'Retry-After': '5' } });
        const error = await failure(a.srf.createUAC(uri('bob'), { localSdp: SDP }));
        expect(error.status).to.equal(486);
        expect(error.reason).to.equal('Besetzt');
        expect(error.res.get('X-Why')).to.equal('busy');
      });

      it('cancels, and the callee learns the reason', async () => {
        const cancelled = Promise.withResolvers<string>();
        answer = (req, res) => {
          req.on('cancel', (cancel) => cancelled.resolve(cancel.get('Reason')));
          res.send(180);
        };
        let invite: SrfRequest | undefined;
        const call = failure(
          a.srf.createUAC(
            uri('bob'),
            { localSdp: SDP },
            {
              cbRequest: (_error: unknown, req: SrfRequest) => (invite = req),
              cbProvisional: () => invite?.cancel({ headers: { Reason: 'SIP;cause=200' } }, () => undefined),
            },
          ),
        );
        expect((await call).status).to.equal(487);
        expect(await cancelled.promise).to.equal('SIP;cause=200');
      });

      it('sends a CANCEL from before any response with the first provisional one', async () => {
        const ring = Promise.withResolvers<void>();
        const cancelled = Promise.withResolvers<void>();
        answer = async (req, res) => {
          req.on('cancel', () => cancelled.resolve());
          await ring.promise;
          res.send(180);
        };
        const call = failure(
          a.srf.createUAC(
            uri('bob'),
            { localSdp: SDP },
            { cbRequest: (_error: unknown, req: SrfRequest) => req.cancel({}, () => undefined) },
          ),
        );
        ring.resolve();
        expect((await call).status).to.equal(487);
        await cancelled.promise;
      });

      for (const method of OUTSIDE) {
        it(`sends ${method} outside of dialogs`, async () => {
          const headers = { From: 'sip:me@localhost', Event: 'presence', Expires: '0', 'Content-Type': 'text/plain' };
          const res = await new Promise<SrfResponse>((resolve, reject) => {
            a.srf.request(uri('bob'), { method, body: 'grüße', headers }, (error, req) => {
              if (error) reject(error);
              else req.on('response', resolve);
            });
          });
          expect(res.status).to.equal(200);
          const own = transport === 'udp' ? a.sip : `${a.sip};transport=tcp`;
          expect(res.get('X-Seen')).to.equal(`${transport} sip:me@${own} grüße`);
        });
      }

      it('reports a closed port as 503', async () => {
        const error = await failure(a.srf.createUAC(`sip:x@127.0.0.1:1;transport=${transport}`, { localSdp: SDP }));
        expect(error.status).to.equal(503);
      });
    });
  }

  it('answers a challenge with the credentials of the auth option', async () => {
    answer = async (req, res) => {
      if (!req.has('Proxy-Authorization')) {
        res.send(407, { headers: { 'Proxy-Authenticate': 'Digest realm="lab", nonce="n1", qop="auth"' } });
      } else await b.srf.createUAS(req, res, { localSdp: SDP });
    };
    const auth = { username: 'alice', password: 'pw' };
    const uac = await a.srf.createUAC(`sip:bob@${b.sip}`, { localSdp: SDP, auth });
    await uac.destroy();
  });

  it('sends through a proxy given as route URL, and by Route', async () => {
    const seen: string[] = [];
    answer = (req, res) => {
      seen.push(`${req.uri} ${req.has('Route')}`);
      res.send(404);
    };
    await failure(a.srf.createUAC('sip:bob@example.invalid', { localSdp: SDP, proxy: `sip:${b.sip}` }));
    const headers = { Route: `<sip:${b.sip};lr>` };
    await failure(a.srf.createUAC('sip:bob@example.invalid', { localSdp: SDP, headers }));
    expect(seen).to.deep.equal(['sip:bob@example.invalid false', 'sip:bob@example.invalid true']);
  });

  it('acknowledges a reliable provisional response', async () => {
    const pracked = Promise.withResolvers<string>();
    answer = async (req, res) => {
      res.send(
        183,
        { headers: { Require: '100rel' }, body: SDP },
        () => undefined,
        (prack: SrfRequest) => {
          pracked.resolve(prack.get('RAck'));
          void b.srf.createUAS(req, res, { localSdp: SDP });
        },
      );
    };
    b.srf.use('prack', (_req: SrfRequest, res: SrfResponse) => void res.send(200));
    const uac = await a.srf.createUAC(`sip:bob@${b.sip}`, { localSdp: SDP, headers: { Supported: '100rel' } });
    expect(await pracked.promise).to.match(/^\d+ \d+ INVITE$/);
    await uac.destroy();
  });

  it('leaves no timers and transactions', async () => {
    await nothingLeft();
  });

  it('refuses a wrong secret, and closes the connection', async () => {
    const server = await startSipServer({ app: '127.0.0.1:0', secret: 'other', sip: [] });
    try {
      const outcome = await connectSrf(server).then(
        () => 'connected',
        (error: Error) => error.message,
      );
      expect(outcome).to.contain('failed to authenticate');
      await until(async () => (await server.stats()).apps === 0, 'connection closed');
    } finally {
      await server.close();
    }
  });

  it('names a taken address', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : 0;
    try {
      for (const options of [
        { app: `127.0.0.1:${port}`, sip: ['127.0.0.1:0'] },
        { app: '127.0.0.1:0', sip: [`127.0.0.1:${port}`] },
        { app: '127.0.0.1:0', sip: [a.sip] },
      ]) {
        const error = await startSipServer({ secret: 's', ...options }).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).to.be.instanceOf(ListenError);
        expect(error).to.have.property('code', 'EADDRINUSE');
      }
    } finally {
      taken.close();
    }
  });

  it('refuses settings with invalid addresses', async () => {
    const error = await startSipServer({ app: 'nonsense', secret: 's', sip: [] }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(RangeError);
    expect(String(error)).to.contain('app: expected ip:port');
  });

  it('reports the end of its thread, and closes twice', async () => {
    const server = await startSipServer({ app: '127.0.0.1:0', secret: 's', sip: ['127.0.0.1:0', '127.0.0.1:0'] });
    expect(server.addresses.sip?.split(',')).to.have.length(2);
    await Promise.all([server.close(), server.close()]);
    expect(await server.exited).to.equal(undefined);
  });
});
