import { expect } from 'chai';
import { Baresip } from '../phones/baresip.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import { DtlsPeer } from '../phones/media/dtls-peer.ts';
import { requirePeer } from '../phones/peers.ts';
import { eventually } from '../support/eventually.ts';
import { REAL_MEDIA } from '../support/real-servers.ts';
import { type Login, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

/** A phone whose session descriptions are a peer's. */
const TOLERATED = { tolerates: /SDP|RTP|bytes|browser.invalid/ };

describe('called phones with keys by DTLS (security.srtp_keys)', () => {
  const stage = useStage();
  const peers: DtlsPeer[] = [];
  const changed = new Map<string, string>();

  before(function () {
    // Its offers have no DTLS (docs/encrypted-media.md).
    if (REAL_MEDIA) this.skip();
  });

  afterEach(async () => {
    for (const peer of peers.splice(0)) peer.close();
    const rest = await stage.rest();
    const body = { security: { srtp: null, srtp_keys: null } };
    for (const path of changed.values()) await rest.send('PATCH', path, { body });
    changed.clear();
  });

  async function pathOf(login: Login): Promise<string> {
    const rest = await stage.rest();
    const filter = JSON.stringify({ login });
    const [account] = (await rest.get('/rest/v1/domain/sipusers', { filter })).json<{ id: string }[]>();
    return `/rest/v1/domain/sipusers/${account?.id}`;
  }

  async function set(login: Login, security: object) {
    const path = await pathOf(login);
    changed.set(login, path);
    return (await stage.rest()).send('PATCH', path, { body: { security } });
  }

  /** Called phones of this account are offered keys by DTLS, until the end of the test. */
  async function byDtls(login: Login, srtp: 'required' | 'preferred'): Promise<void> {
    const answer = await set(login, { srtp, srtp_keys: 'dtls' });
    expect(answer.status, answer.text).to.equal(200);
  }

  async function dtlsPeer(): Promise<DtlsPeer> {
    const peer = await DtlsPeer.open();
    peers.push(peer);
    return peer;
  }

  const expectLogged = (text: string): Promise<void> =>
    eventually(async () => void expect(stage.node.output).to.contain(text));

  /** Alice calls bob, whose phone answers with this description. */
  async function callBob(described: (offer: string) => string, options: { websocketContact?: boolean } = {}) {
    const bob = await stage.phone('bob', { ...TOLERATED, ...options });
    const outgoing = await (await stage.phone('alice')).call('102');
    const incoming: IncomingCall = await bob.incoming();
    await incoming.answer(5000, described(incoming.invite.body));
    return { outgoing, incoming };
  }

  it('`required` offers DTLS alone, without ICE, and both hear each other', async () => {
    await byDtls('bob', 'required');
    const peer = await dtlsPeer();
    const { outgoing, incoming } = await callBob((offer) => peer.answer(offer));
    await outgoing.answered();
    const offer = incoming.invite.body;
    expect(offer.match(/^m=.*/gm)).to.have.length(1);
    expect(offer)
      .to.match(/^m=audio [1-9]\d* UDP\/TLS\/RTP\/SAVP /m)
      .and.match(/^a=setup:actpass\r$/m)
      .and.match(/^a=fingerprint:sha-256 /m)
      .and.not.match(/^a=(?:ice|candidate|crypto|group|mid)/m);
    outgoing.play(620);
    await Promise.all([peer.hears(620), outgoing.hears(440, { withinMs: 20_000 })]);
    await outgoing.hangup();
  });

  it('`preferred` offers plain sound too, which a phone without encryption takes', async () => {
    await byDtls('bob', 'preferred');
    const bob = await stage.phone('bob');
    const { outgoing, incoming } = await stage.connect(await stage.phone('alice'), bob, '102');
    expect(incoming.invite.body.match(/^m=audio [1-9]\d* \S+/gm)?.map((line) => line.split(' ')[2])).to.deep.equal([
      'UDP/TLS/RTP/SAVP',
      'RTP/AVP',
    ]);
    outgoing.play(620);
    incoming.play(440);
    await Promise.all([outgoing.hears(440), incoming.hears(620)]);
  });

  it('of `preferred` a phone with DTLS takes the encrypted sound', async () => {
    await byDtls('bob', 'preferred');
    const peer = await dtlsPeer();
    const { outgoing } = await callBob((offer) => `${peer.answer(offer)}m=audio 0 RTP/AVP 0\r\n`);
    await outgoing.answered();
    outgoing.play(620);
    await Promise.all([peer.hears(620), outgoing.hears(440, { withinMs: 20_000 })]);
    await outgoing.hangup();
  });

  it('a domain sets it for its sipusers, and one of them chooses otherwise', async () => {
    const rest = await stage.rest();
    const [domain] = (await rest.get('/rest/v1/domain/domains', { filter: '{"name":"demo.local"}' })).json<
      { id: string }[]
    >();
    const path = `/rest/v1/domain/domains/${domain?.id}`;
    changed.set('domain', path);
    const body = { security: { srtp: 'preferred', srtp_keys: 'dtls' } };
    expect((await rest.send('PATCH', path, { body })).status).to.equal(200);
    await set('carol', { srtp_keys: 'sdes' });
    for (const [login, number, profile] of [
      ['bob', '102', 'UDP/TLS/RTP/SAVP'],
      ['carol', '103', 'RTP/SAVP'],
    ] as const) {
      const phone = await stage.phone(login);
      const outgoing = await (await stage.phone('alice')).call(number);
      expect((await phone.incoming()).invite.body).to.match(new RegExp(`^m=audio \\d+ ${profile} `, 'm'));
      await outgoing.hangup();
    }
  });

  it('baresip with DTLS alone is called by a plain phone, and both hear each other', async function () {
    await byDtls('carol', 'required');
    const account = { login: 'carol', domain: 'demo.local', password: 'demo-carol', server: stage.node.sip };
    const carol = await Baresip.start(requirePeer(this, 'baresip'), { ...account, encryption: 'dtls_srtp', tone: 500 });
    try {
      await carol.registered();
      const outgoing = await (await stage.phone('alice')).call('103');
      await carol.event('CALL_INCOMING');
      carol.accept();
      await outgoing.answered();
      outgoing.play(620);
      await Promise.all([outgoing.hears(500, { withinMs: 15_000 }), carol.hears(620)]);
      await outgoing.hangup();
      await carol.event('CALL_CLOSED');
    } finally {
      await carol.stop();
    }
  });

  const plain = (line: string) => `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n${line}`;
  const FINGERPRINT = `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}\r\n`;
  const CRYPTO = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${'d'.repeat(40)}\r\n`;
  const NO_KEY = 'No Usable Key For Encrypted Media';

  for (const [what, answer, phrase, reason] of [
    ['in clear', 'm=audio 4000 RTP/AVP 0\r\n', 'Encrypted Media Required', 'the answer has plain media'],
    ['with keys by SDES', `m=audio 4000 RTP/SAVP 0\r\n${CRYPTO}`, NO_KEY, 'the answer has keys by SDES'],
    [
      'without a fingerprint',
      'm=audio 4000 UDP/TLS/RTP/SAVP 0\r\na=setup:active\r\n',
      NO_KEY,
      'it has no a=fingerprint',
    ],
    [
      'as the server of DTLS',
      `m=audio 4000 UDP/TLS/RTP/SAVP 0\r\n${FINGERPRINT}a=setup:passive\r\n`,
      NO_KEY,
      'a=setup:passive, but the media server is the server of DTLS',
    ],
  ] as const) {
    it(`a phone that answers ${what} is refused, with a reason in the log`, async () => {
      await byDtls('bob', 'required');
      const { outgoing, incoming } = await callBob(() => plain(answer));
      expect(await outgoing.ended()).to.include({ status: 488, reason: phrase });
      expect((await incoming.ended()).by).to.equal('there');
      await expectLogged(reason);
    });
  }

  it('a browser that answers in clear is refused, with a reason in the log', async () => {
    const { outgoing } = await callBob(() => plain('m=audio 4000 RTP/AVP 0\r\n'), { websocketContact: true });
    expect(await outgoing.ended()).to.include({ status: 488, reason: 'Encrypted Media Required' });
  });

  it('DTLS without encrypted sound is refused, and so is an unknown kind of keys', async () => {
    for (const [security, reason] of [
      [{ srtp_keys: 'dtls' }, 'dtls needs security.srtp required or preferred, and it is absent'],
      [{ srtp: 'off', srtp_keys: 'dtls' }, 'dtls needs security.srtp required or preferred, and it is off'],
      [{ srtp: 'required', srtp_keys: 'zrtp' }, 'srtp_keys'],
    ] as const)
      expect(expectError(await set('bob', security), 400, 1400).error_message).to.contain(reason);
    await byDtls('bob', 'required');
    const answer = await set('bob', { srtp: null });
    expect(expectError(answer, 400, 1400).error_details?.field).to.equal('security.srtp_keys');
  });
});
