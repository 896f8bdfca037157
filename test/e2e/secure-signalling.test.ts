import { expect } from 'chai';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type SecureVersion, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { Baresip } from '../phones/baresip.ts';
import { requirePeer } from '../phones/peers.ts';
import type { Phone } from '../phones/phone.ts';
import { decode } from '../phones/media/g711.ts';
import { hasTone } from '../phones/media/tone.ts';
import { Cable } from '../support/cable.ts';
import { makeCertificate, type TestCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort } from '../support/ports.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { type Login, useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectCallsBothWays, expectCleanRtp, expectTalk } from './expectations.ts';

/** Where a phone connects, by the name in test titles. */
type Way = 'TLS' | 'secure WebSocket' | 'WebSocket at /sip' | 'secure WebSocket at /sip';

const made = REAL_SIP ? undefined : makeCertificate();

(made === undefined ? describe.skip : describe)('encrypted signalling and browsers', () => {
  const folder = temporaryFolder();
  let certificate: TestCertificate = made ?? { cert: '', key: '' };
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const ports = { sips: 0, ws: 0, https: 0 };
  const stage = useStage({
    env: async () => {
      await writeFile(certFile, certificate.cert);
      await writeFile(keyFile, certificate.key);
      for (const name of ['sips', 'ws', 'https'] as const) ports[name] = await freeTcpPort();
      return {
        RINGMASTER_TLS_CERT: certFile,
        RINGMASTER_TLS_KEY: keyFile,
        RINGMASTER_SIPS_PORT: String(ports.sips),
        RINGMASTER_WS_PORT: String(ports.ws),
        RINGMASTER_HTTPS_PORT: String(ports.https),
        RINGMASTER_WS_ORIGINS: 'https://shop.example.com',
        RINGMASTER_LOG_LEVEL: 'info',
      };
    },
  });

  const cables: Cable[] = [];
  after(() => {
    for (const cable of cables) cable.close();
  });

  before('the test phones on WebSockets have plain sound', async () => {
    for (const login of ['alice', 'bob']) await secure(login, 'off');
  });

  async function secure(login: string, srtp: 'off' | 'required'): Promise<void> {
    const rest = await stage.rest();
    const filter = JSON.stringify(['==', ['property', 'login'], login]);
    const [account] = (await rest.get('/rest/v1/domain/sipusers', { filter })).json<{ id: string }[]>();
    const answer = await rest.send('PATCH', `/rest/v1/domain/sipusers/${account?.id}`, {
      body: { security: { srtp } },
    });
    expect(answer.status, answer.text).to.equal(200);
  }

  /** Which of the tones of a call somebody hears who takes recorded datagrams for RTP with mu-law or A-law. */
  function tonesOn(wire: readonly Buffer[]): number[] {
    const heard = (codec: 'PCMU' | 'PCMA', frequency: number): boolean =>
      wire.filter((datagram) => hasTone(decode(codec, datagram.subarray(12, 172)), frequency)).length > wire.length / 4;
    return [440, 620].filter((frequency) => heard('PCMU', frequency) || heard('PCMA', frequency));
  }

  const plainUrl = (): string => `${stage.node.base.replace('http:', 'ws:')}/sip`;

  const phone = (login: Login, way: Way): Promise<Phone> => {
    const [transport, server] = {
      TLS: ['tls', `127.0.0.1:${ports.sips}`] as const,
      'secure WebSocket': ['wss', `wss://127.0.0.1:${ports.ws}`] as const,
      'WebSocket at /sip': ['ws', plainUrl()] as const,
      'secure WebSocket at /sip': ['wss', `wss://127.0.0.1:${ports.https}/sip`] as const,
    }[way];
    return stage.phone(login, { transport, connection: { server, ca: certificate.cert } });
  };

  const secureSocket = async (port: number, version?: SecureVersion): Promise<TLSSocket> => {
    // At the usual security level the client itself would refuse TLS 1.1.
    const versions =
      version === undefined ? {} : { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
    const socket = connectTls({ host: '127.0.0.1', port, ca: certificate.cert, ...versions });
    await once(socket, 'secureConnect');
    return socket;
  };

  it('on the wire of a call over TLS with SRTP there is neither readable SIP nor audible sound', async () => {
    const cable = await Cable.to(ports.sips);
    cables.push(cable);
    const bytes: Buffer[] = (cable.record = []);
    try {
      await secure('alice', 'required');
      const connection = { server: `127.0.0.1:${cable.port}`, ca: certificate.cert };
      const alice = await stage.phone('alice', { transport: 'tls', connection, srtp: 'AES_CM_128_HMAC_SHA1_80' });
      const { outgoing, incoming } = await stage.connect(alice, await stage.phone('bob'), '102');
      const wires = [outgoing, incoming].map(({ session: { rtp } }) => (rtp.wire = []));
      await expectTalk(outgoing, incoming);
      // A second of both directions, which phones hear in clear.
      await eventually(async () => void expect(Math.min(...wires.map(({ length }) => length))).to.be.above(100));
      const [encrypted = [], plain = []] = wires.map(tonesOn);
      expect(plain).to.include.members([440, 620]);
      expect(encrypted).to.deep.equal([]);
      await outgoing.hangup();
    } finally {
      await secure('alice', 'off');
    }
    const signalling = Buffer.concat(bytes).toString('latin1');
    expect(signalling.length).to.be.above(4000);
    for (const word of ['SIP/2.0', 'INVITE', 'demo.local', 'a=crypto', 'inline:', 'm=audio'])
      expect(signalling, word).not.to.contain(word);
  });

  for (const way of [
    'TLS',
    'secure WebSocket',
    'WebSocket at /sip',
    'secure WebSocket at /sip',
  ] satisfies readonly Way[]) {
    it(`a phone on ${way} and one on UDP call each other, hold, resume and hang up`, async () => {
      const [alice, bob] = [await phone('alice', way), await stage.phone('bob')];
      for (const [from, to, number] of [
        [alice, bob, '102'],
        [bob, alice, '101'],
      ] as const) {
        const { outgoing, incoming } = await stage.connect(from, to, number);
        await expectTalk(outgoing, incoming);
        await outgoing.hold();
        await outgoing.unhold();
        await incoming.hold();
        await incoming.unhold();
        await expectTalk(outgoing, incoming);
        expectCleanRtp(outgoing, incoming);
        await (from === alice ? incoming : outgoing).hangup();
        await (from === alice ? outgoing : incoming).ended();
      }
    });
  }

  it('a phone on a WebSocket calls one on TLS, and hangs up', async () => {
    const [alice, bob] = [await phone('alice', 'secure WebSocket'), await phone('bob', 'TLS')];
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    await outgoing.hangup();
    await incoming.ended();
    const registered = (await (await stage.rest()).get('/rest/v1/domain/registrations')).json<
      readonly { transport: string; address: string }[]
    >();
    expect(registered.map(({ transport }) => transport)).to.have.members(['wss', 'tls']);
  });

  for (const way of ['TLS', 'WebSocket at /sip'] satisfies readonly Way[]) {
    it(`a phone whose connection (${way}) is lost is called with 480`, async () => {
      const [alice, bob] = [await phone('alice', way), await stage.phone('bob')];
      await alice.disconnect();
      const call = await bob.call('101');
      expect(await call.refused()).to.include({ status: 480 });
    });
  }

  it('baresip registers over TLS, checks the certificate, calls and is called', async function () {
    const program = requirePeer(this, 'baresip');
    const server = `127.0.0.1:${ports.sips}`;
    const account = { login: 'carol', domain: 'demo.local', password: 'demo-carol', transport: 'tls' } as const;
    const carol = await Baresip.start(program, { ...account, server, certificate: certFile, tone: 500 });
    try {
      await carol.registered();
      const alice = await phone('alice', 'secure WebSocket at /sip');
      await expectCallsBothWays(alice, carol);
    } finally {
      await carol.stop();
    }
  });

  it('a browser that opens its page again and again stays registered: its oldest contacts make way', async () => {
    let last: string | undefined;
    for (let page = 0; page < 12; page += 1) {
      const alice = await phone('alice', 'WebSocket at /sip');
      last = alice.contact;
      await alice.disconnect();
    }
    const registered = (await (await stage.rest()).get('/rest/v1/domain/registrations')).json<
      readonly { contact: string }[]
    >();
    expect(registered.map(({ contact }) => contact))
      .to.have.length(10)
      .and.include(last);
    const desk = await phone('alice', 'TLS');
    await desk.register({ contact: '*', expires: 0 });
  });

  it('TLS before 1.2 is refused, 1.2 and 1.3 are spoken', async () => {
    for (const port of [ports.sips, ports.https, ports.ws]) {
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const socket = await secureSocket(port, version);
        expect(socket.getProtocol()).to.equal(version);
        socket.destroy();
      }
      const refused = await secureSocket(port, 'TLSv1.1').then(
        () => 'accepted',
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect(refused).to.match(/^(ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION|ECONNRESET)/);
    }
    await eventually(async () => expect(stage.node.output).to.match(/unsupported protocol.*SIP connection refused/));
  });

  it('the REST service answers over TLS, also WebSockets', async () => {
    const socket = await secureSocket(ports.https);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect((await socket.setEncoding('utf8').toArray()).join('')).to.match(/^HTTP\/1\.1 200 /);
    const events = new WebSocket(`wss://127.0.0.1:${ports.https}/ws`, { ca: certificate.cert });
    const [response] = (await once(events, 'unexpected-response').then((args) => args.slice(1))) as [
      { statusCode: number },
    ];
    expect(response.statusCode).to.equal(401);
    events.on('error', () => undefined).terminate();
  });

  it('a WebSocket needs the subprotocol sip and an allowed origin', async () => {
    const status = (url: string, protocols: readonly string[], origin?: string): Promise<number> => {
      const headers = origin === undefined ? {} : { headers: { Origin: origin } };
      const webSocket = new WebSocket(url, [...protocols], { ca: certificate.cert, ...headers });
      return new Promise<number>((resolve) => {
        webSocket.once('open', () => resolve(101));
        webSocket.once('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
      }).finally(() => webSocket.on('error', () => undefined).terminate());
    };
    for (const url of [plainUrl(), `wss://127.0.0.1:${ports.ws}`]) {
      const own = new URL(url).host;
      expect(await status(url, ['sip']), 'a program').to.equal(101);
      expect(await status(url, ['sip'], `http://${own}`), 'own page').to.equal(101);
      expect(await status(url, ['sip'], 'https://shop.example.com'), 'listed').to.equal(101);
      expect(await status(url, ['sip'], 'https://evil.example'), 'foreign').to.equal(403);
      expect(await status(url, ['mqtt']), 'another protocol').to.equal(400);
    }
    await eventually(async () => expect(stage.node.output.match(/evil\.example/g)).to.have.length.at.least(2));
  });

  it('thousands of half-open connections keep no phone out', async function () {
    this.timeout(60_000);
    const before = (await stage.node.health()).counts['sip_sockets'] ?? 0;
    const sockets = await Promise.all(
      Array.from({ length: 2400 }, async (_, at) => {
        const port = [ports.sips, ports.ws, ports.https][at % 3] ?? 0;
        const socket = connectTcp({ host: '127.0.0.1', port });
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    try {
      const [alice, bob] = [await phone('alice', 'TLS'), await phone('bob', 'secure WebSocket')];
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await expectTalk(outgoing, incoming);
      await outgoing.hangup();
      await incoming.ended();
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await eventually(async () => expect((await stage.node.health()).counts['sip_sockets']).to.be.at.most(before + 2));
  });

  it('a changed certificate is used by new connections, and open ones with their calls stay', async function () {
    this.timeout(30_000);
    const next = makeCertificate();
    if (next === undefined) {
      this.skip();
      return;
    }
    const [alice, bob] = [await phone('alice', 'TLS'), await phone('bob', 'secure WebSocket at /sip')];
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    for (const [file, text] of [
      [certFile, next.cert],
      [keyFile, next.key],
    ] as const) {
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    }
    certificate = next;
    for (const port of [ports.sips, ports.ws, ports.https])
      await eventually(async () => void (await secureSocket(port)).destroy());
    await expectTalk(outgoing, incoming);
    await outgoing.hold();
    await outgoing.unhold();
    await outgoing.hangup();
    await incoming.ended();
  });
});
