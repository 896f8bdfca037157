import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Baresip } from '../phones/baresip.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import { Linphone } from '../phones/linphone.ts';
import { requirePeer } from '../phones/peers.ts';
import { makeCertificate } from '../support/certificate.ts';
import { freeTcpPort } from '../support/ports.ts';
import { REAL_MEDIA, REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Hz: what the program's user says. */
const TONE = 700;

/** What each of the programs does in a test. */
interface Program {
  registered(): Promise<void>;
  /** Calls, and waits until it talks. */
  call(uri: string): Promise<void>;
  /** Takes the call that comes. */
  answer(): Promise<void>;
  hears(frequency: number): Promise<void>;
  ended(): Promise<void>;
  hangup(): Promise<void>;
  stop(): Promise<void>;
}

const certificate = REAL_SIP || REAL_MEDIA ? undefined : makeCertificate();

(certificate === undefined ? describe.skip : describe)('programs of others with TLS and encrypted sound', () => {
  const folder = temporaryFolder();
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  let server = '';
  const stage = useStage({
    env: async () => {
      writeFileSync(certFile, certificate?.cert ?? '');
      writeFileSync(keyFile, certificate?.key ?? '');
      const port = await freeTcpPort();
      server = `127.0.0.1:${port}`;
      return {
        RINGMASTER_TLS_CERT: certFile,
        RINGMASTER_TLS_KEY: keyFile,
        RINGMASTER_SIPS_PORT: String(port),
        RINGMASTER_HTTPS_PORT: String(await freeTcpPort()),
      };
    },
  });
  let running: Program | undefined;

  afterEach(async () => {
    await running?.stop();
    running = undefined;
    await secure(null);
  });

  async function secure(srtp: 'required' | null, keys: 'dtls' | null = null): Promise<void> {
    const rest = await stage.rest();
    const filter = JSON.stringify({ login: 'carol' });
    const [account] = (await rest.get('/rest/v1/domain/sipusers', { filter })).json<{ id: string }[]>();
    const body = { security: { srtp, srtp_keys: keys } };
    const answer = await rest.send('PATCH', `/rest/v1/domain/sipusers/${account?.id}`, { body });
    expect(answer.status, answer.text).to.equal(200);
  }

  const account = {
    login: 'carol',
    domain: 'demo.local',
    password: 'demo-carol',
    transport: 'tls',
    tone: TONE,
  } as const;

  async function baresip(program: string, encryption: 'sdes' | 'dtls'): Promise<Program> {
    const modes = { sdes: 'srtp-mand', dtls: 'dtls_srtp' } as const;
    const certified = { ...account, server, certificate: certFile, encryption: modes[encryption] };
    const carol = await Baresip.start(program, certified);
    return {
      registered: () => carol.registered(),
      call: async (uri) => {
        carol.dial(uri);
        await carol.event('CALL_ESTABLISHED');
      },
      answer: async () => {
        await carol.event('CALL_INCOMING');
        carol.accept();
      },
      hears: (frequency) => carol.hears(frequency),
      ended: async () => void (await carol.event('CALL_CLOSED')),
      hangup: async () => {
        carol.hangup();
        await carol.event('CALL_CLOSED');
      },
      stop: () => carol.stop(),
    };
  }

  async function linphone(program: string, encryption: 'sdes' | 'dtls'): Promise<Program> {
    const modes = { sdes: 'srtp', dtls: 'dtls' } as const;
    // Its TLS library knows no addresses in certificates.
    const named = server.replace('127.0.0.1', 'localhost');
    return Linphone.start(program, { ...account, server: named, certificate: certFile, encryption: modes[encryption] });
  }

  async function expectSound(program: Program, call: IncomingCall | OutgoingCall): Promise<void> {
    call.play(440);
    await Promise.all([call.hears(TONE, { withinMs: 15_000 }), program.hears(440)]);
  }

  for (const [name, installed, start] of [
    ['baresip', 'baresip', baresip],
    ['linphone', 'linphonec', linphone],
  ] as const) {
    for (const encryption of ['sdes', 'dtls'] as const) {
      it(`${name} with keys by ${encryption.toUpperCase()} calls a plain phone, and both hear each other`, async function () {
        running = await start(requirePeer(this, installed), encryption);
        await running.registered();
        if (encryption === 'sdes') await secure('required');
        const alice = await stage.phone('alice');
        const calling = running.call('sip:101@demo.local');
        const incoming = await alice.incoming();
        await incoming.answer();
        await calling;
        await expectSound(running, incoming);
        await running.hangup();
        expect((await incoming.ended()).by).to.equal('there');
      });

      it(`${name} is called with keys by ${encryption.toUpperCase()} by a plain phone, and both hear each other`, async function () {
        running = await start(requirePeer(this, installed), encryption);
        await running.registered();
        await secure('required', encryption === 'dtls' ? 'dtls' : null);
        const alice = await stage.phone('alice', { codecs: ['OPUS', 'PCMU'] });
        const outgoing = await alice.call('103');
        await running.answer();
        await outgoing.answered();
        await expectSound(running, outgoing);
        await outgoing.hold();
        await outgoing.unhold();
        await expectSound(running, outgoing);
        await outgoing.hangup();
        await running.ended();
      });
    }
  }
});
