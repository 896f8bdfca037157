import { expect } from 'chai';
import { Baresip } from '../phones/baresip.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import { requirePeer } from '../phones/peers.ts';
import type { PhoneOptions } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { REAL_MEDIA } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { expectCallsBothWays, expectCleanRtp, expectTalk } from './expectations.ts';

type Srtp = 'required' | 'preferred' | 'off';

/** Both talk, press keys, and hold. A phone that encrypts counts anything else than SRTP as a violation. */
async function expectWholeCall(outgoing: OutgoingCall, incoming: IncomingCall): Promise<void> {
  await expectTalk(outgoing, incoming);
  for (const [from, to] of [
    [outgoing, incoming],
    [incoming, outgoing],
  ] as const) {
    await from.sendDtmf('12');
    await to.receivesDtmf('12');
  }
  await outgoing.hold();
  await outgoing.unhold();
  await expectTalk(outgoing, incoming);
  expectCleanRtp(outgoing, incoming);
}

describe('encrypted media with keys in the session description (SDES)', () => {
  const stage = useStage();
  const changed = new Map<string, string>();

  /** Sets `security.srtp` of a demo account until the end of the test. */
  async function secure(login: string, srtp: Srtp): Promise<void> {
    const rest = await stage.rest();
    const filter = JSON.stringify(['==', ['property', 'login'], login]);
    const [account] = (await rest.get('/rest/v1/domain/sipusers', { filter })).json<{ id: string }[]>();
    const own = `/rest/v1/domain/sipusers/${account?.id}`;
    changed.set(login, own);
    const answer = await rest.send('PATCH', own, { body: { security: { srtp } } });
    expect(answer.status, answer.text).to.equal(200);
  }

  const expectLogged = (text: string): Promise<void> =>
    eventually(async () => void expect(stage.node.output).to.contain(text));

  afterEach(async () => {
    const rest = await stage.rest();
    for (const path of changed.values()) await rest.send('PATCH', path, { body: { security: { srtp: null } } });
    changed.clear();
  });

  const CM = 'AES_CM_128_HMAC_SHA1_80';
  const GCM = 'AEAD_AES_128_GCM';

  for (const srtp of [CM, GCM] as const) {
    it(`an offer with ${srtp} is answered in kind, and talks to a plain phone both ways`, async () => {
      const alice = await stage.phone('alice', { srtp });
      const { outgoing, incoming } = await stage.connect(alice, await stage.phone('bob'), '102');
      expect(outgoing.session.remote?.profile).to.equal('RTP/SAVP');
      expect(incoming.session.remote?.profile).to.equal('RTP/AVP');
      await expectWholeCall(outgoing, incoming);
    });
  }

  it('Opus is encrypted, and talks to a plain phone with G.722 both ways', async () => {
    const [alice, bob] = [
      await stage.phone('alice', { srtp: CM, codecs: ['OPUS'] }),
      await stage.phone('bob', { codecs: ['G722'] }),
    ];
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    expect([outgoing.session.remote?.profile, outgoing.session.remote?.codecs]).to.deep.equal(['RTP/SAVP', ['OPUS']]);
    await expectTalk(outgoing, incoming);
    await outgoing.sendDtmf('12');
    await incoming.receivesDtmf('12');
  });

  it('a phone with security.srtp `required` is offered encrypted sound only, and is called by a plain phone', async () => {
    await secure('bob', 'required');
    const bob = await stage.phone('bob', { srtp: CM });
    const { outgoing, incoming } = await stage.connect(await stage.phone('alice'), bob, '102');
    expect(incoming.session.remote).to.include({ profile: 'RTP/SAVP', mediaLines: 1 });
    await expectWholeCall(outgoing, incoming);
  });

  it('two phones that encrypt, by different suites, hear each other', async () => {
    await secure('bob', 'required');
    // A real FreeSWITCH offers one suite.
    const [alice, bob] = [
      await stage.phone('alice', { srtp: GCM }),
      await stage.phone('bob', { srtp: REAL_MEDIA ? CM : GCM }),
    ];
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectWholeCall(outgoing, incoming);
    await incoming.reinvite();
    await expectTalk(outgoing, incoming);
  });

  for (const [what, options, profile] of [
    ['encrypts', { srtp: CM }, 'RTP/SAVP'],
    ['does not', {}, 'RTP/AVP'],
  ] as const satisfies readonly (readonly [string, Partial<PhoneOptions>, string])[]) {
    it(`a phone with security.srtp \`preferred\` is offered both, and ${what}`, async function () {
      // A real FreeSWITCH offers plain sound.
      if (REAL_MEDIA) this.skip();
      await secure('bob', 'preferred');
      const { outgoing, incoming } = await stage.connect(
        await stage.phone('alice'),
        await stage.phone('bob', options),
        '102',
      );
      expect(incoming.session.remote).to.include({ profile, mediaLines: 2 });
      await expectWholeCall(outgoing, incoming);
    });
  }

  it('a plain offer under security.srtp `required` is refused with 488 and a reason', async () => {
    await secure('alice', 'required');
    const alice = await stage.phone('alice');
    await stage.phone('bob');
    for (const number of ['102', '500']) {
      const refused = await (await alice.call(number)).ended();
      expect(refused).to.include({ status: 488, reason: 'Encrypted Media Required' });
    }
    await expectLogged('plain media only, and security.srtp is required');
  });

  it('an encrypted offer under security.srtp `off` is refused, and of both the plain one is taken', async () => {
    await secure('alice', 'off');
    const refused = await (await (await stage.phone('alice', { srtp: CM })).call('500')).ended();
    expect(refused).to.include({ status: 488, reason: 'Encrypted Media Not Allowed' });
    const both = (sdp: string): string =>
      sdp.replace(
        /^m=audio (\d+) .*/m,
        `m=audio $1 RTP/SAVP 0\r\na=crypto:1 ${CM} inline:${'d'.repeat(40)}\r\nm=audio $1 RTP/AVP 0`,
      );
    const alice = await stage.phone('alice', {
      describes: both,
      tolerates: /the answer has (?:2 media lines|RTP.AVP)/,
    });
    const { outgoing, incoming } = await stage.connect(alice, await stage.phone('bob'), '102');
    expect(outgoing.session.remote).to.include({ profile: 'RTP/AVP', mediaLines: 2 });
    await expectTalk(outgoing, incoming);
  });

  it('a phone that answers an encrypted offer in clear does not get the call', async () => {
    await secure('bob', 'required');
    const bob = await stage.phone('bob', { tolerates: /.*/ });
    const outgoing = await (await stage.phone('alice')).call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    expect((await outgoing.ended()).status).to.equal(488);
  });

  it('forged, repeated and plain packets change nothing, and are in the log at the end', async function () {
    // A real FreeSWITCH loses the sound for seconds.
    if (REAL_MEDIA) this.skip();
    const alice = await stage.phone('alice', { srtp: CM });
    const { outgoing, incoming } = await stage.connect(alice, await stage.phone('bob'), '102');
    await expectTalk(outgoing, incoming);
    const { rtp } = outgoing.session;
    for (let count = 0; count < 100; count += 1) {
      const sealed = rtp.lastSent;
      const forged = Buffer.from(sealed);
      forged.writeUInt16BE((sealed.readUInt16BE(2) + 10 + count) % 65_536, 2);
      const stranger = Buffer.from(forged);
      stranger.writeUInt32BE(count, 8);
      for (const each of [sealed, forged, stranger, forged.subarray(0, 172), forged.subarray(0, 12 + (count % 20))]) {
        rtp.inject(each);
      }
    }
    await expectTalk(outgoing, incoming);
    expectCleanRtp(outgoing, incoming);
    await outgoing.hangup();
    await incoming.ended();
    await expectLogged('packets of encrypted media were dropped');
  });

  for (const [what, line, reason] of [
    ['no key', '', 'it has no a=crypto'],
    ['an unknown suite', 'a=crypto:1 AES_CM_128_HMAC_MD5 inline:AAAA\r\n', 'its a=crypto has the unknown suite'],
    [
      'a key of a wrong length',
      `a=crypto:1 ${CM} inline:${'d'.repeat(36)}\r\n`,
      'its a=crypto has a key of 27 octets instead of 30',
    ],
    [
      'a key identifier (MKI)',
      `a=crypto:1 ${CM} inline:${'d'.repeat(40)}|2^20|1:4\r\n`,
      'its a=crypto has a key identifier (MKI), which is not supported',
    ],
    [
      'a parameter that switches encryption off',
      `a=crypto:1 ${CM} inline:${'d'.repeat(40)} UNENCRYPTED_SRTP\r\n`,
      'its a=crypto has the unsupported parameter UNENCRYPTED_SRTP',
    ],
  ] as const) {
    it(`an encrypted offer with ${what} is refused with 488 and a reason in the log`, async () => {
      const describes = (sdp: string): string => sdp.replace('RTP/AVP', 'RTP/SAVP') + line;
      const refused = await (await (await stage.phone('alice', { describes })).call('500')).ended();
      expect(refused).to.include({ status: 488, reason: 'No Usable Key For Encrypted Media' });
      await expectLogged(reason);
    });
  }

  it('a key with a lifetime is used, and one after a key with an identifier (MKI) is taken instead of it', async () => {
    const other = `a=crypto:9 ${CM} inline:${'d'.repeat(40)}|1:4\r\n`;
    const describes = (sdp: string): string => sdp.replace(/^(a=crypto:.*?)\r\n/m, `${other}$1|2^31\r\n`);
    const alice = await stage.phone('alice', { srtp: CM, describes });
    const { outgoing, incoming } = await stage.connect(alice, await stage.phone('bob'), '102');
    await expectTalk(outgoing, incoming);
  });

  it('baresip, which takes encrypted sound only, and a plain phone call each other', async function () {
    const carol = await startBaresip(requirePeer(this, 'baresip'), 'srtp-mand');
    try {
      await secure('carol', 'required');
      await carol.registered();
      await expectCallsBothWays(await stage.phone('alice'), carol);
    } finally {
      await carol.stop();
    }
  });

  it('baresip with keys by DTLS calls a plain phone', async function () {
    const carol = await startBaresip(requirePeer(this, 'baresip'), 'dtls_srtp');
    try {
      await carol.registered();
      const alice = await stage.phone('alice');
      carol.dial('sip:101@demo.local');
      const incoming = await alice.incoming();
      await incoming.answer();
      incoming.play(620);
      await Promise.all([incoming.hears(500), carol.hears(620)]);
      carol.hangup();
      await incoming.ended();
    } finally {
      await carol.stop();
    }
  });

  function startBaresip(program: string, encryption: 'srtp-mand' | 'dtls_srtp'): Promise<Baresip> {
    const account = { login: 'carol', domain: 'demo.local', password: 'demo-carol', server: stage.node.sip };
    return Baresip.start(program, { ...account, encryption, tone: 500 });
  }
});
