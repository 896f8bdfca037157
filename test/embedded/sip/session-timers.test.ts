import { expect } from 'chai';
import type { SipRequest } from '../../../runtime/embedded/stack/index.ts';
import { ManualTimers } from '../stack/manual-timers.ts';
import { RawNode } from './raw-node.ts';

const OFFER = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\n';
const ANSWER = 'v=0\r\no=- 2 1 IN IP4 127.0.0.1\r\ns=-\r\n';
/** The RFC 4028 functions of drachtio-server itself. */
describe('session timers of the embedded SIP server', () => {
  let node: RawNode;
  let timers: ManualTimers;
  beforeEach(() => {
    timers = new ManualTimers();
  });
  afterEach(() => node.close());

  const after = (seconds: number) => timers.advance(seconds * 1000);
  /** The re-INVITE that is due after half of 1800 s, within 5 s. */
  async function refreshing(): Promise<SipRequest> {
    after(894);
    expect(node.server.stats.transactions).to.equal(0);
    // In small steps: its own time-out must not pass before it can be answered.
    for (let step = 0; step < 1200 && node.server.stats.transactions === 0; step += 1) timers.advance(10);
    return (await node.heard('INVITE')) as SipRequest;
  }

  const contact = () => `Contact: <sip:alice@127.0.0.1:${node.phone.port}>`;

  /** A call from the phone, answered by the application and acknowledged. */
  async function answered(header: string, byApplication = ''): Promise<{ tag: string; session: string | undefined }> {
    node = await RawNode.start(['invite'], {}, timers);
    await node.say('INVITE', [contact(), header, 'Supported: timer'], { body: OFFER });
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n${byApplication}\r\n${ANSWER}`);
    await node.frame();
    const ok = await node.heard('200');
    const tag = ok.toTag ?? '';
    await node.say('ACK', [], { branch: 'ack', to: tag });
    await node.frame();
    return { tag, session: ok.header('session-expires') };
  }

  /** A call to the phone, which answers with these headers. */
  async function called(...headers: string[]): Promise<void> {
    node = await RawNode.start([], {}, timers);
    const text = `INVITE sip:bob@127.0.0.1:${node.phone.port} SIP/2.0\r\nSession-Expires: 1800\r\n\r\n${OFFER}`;
    node.app.send(`1|sip||\r\n${text}`);
    const invite = await node.heard('INVITE');
    await node.answer(invite, '200 OK', 'bob', [contact(), ...headers]);
    await node.frame();
    const { fields } = await node.frame();
    node.app.send(`2|sip||${fields[9]}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
    await node.frame();
    await node.heard('ACK');
  }

  async function expectExpired(): Promise<void> {
    const bye = await node.heard('BYE');
    expect(bye.header('reason')).to.equal('SIP;cause=200;text="Session timer expired"');
    const told = await node.frame();
    expect(told.fields[8]).to.equal('unsolicited');
    expect(told.message).to.have.property('method', 'BYE');
    await node.answer(bye, '200 OK', '');
    expect(node.server.stats.dialogs).to.equal(0);
  }

  it('end a call whose caller does not refresh', async () => {
    const { session } = await answered('Session-Expires: 1800;refresher=uac');
    expect(session).to.equal('1800;refresher=uac');
    after(1790);
    expect(node.server.stats.dialogs).to.equal(1);
    after(20);
    await expectExpired();
  });

  it('keep a call whose caller refreshes', async () => {
    const { tag } = await answered('Session-Expires: 1800;refresher=uac');
    after(900);
    const again = [contact(), 'Session-Expires: 1800;refresher=uac'];
    await node.say('INVITE', again, { branch: 'again', to: tag, cseq: 2, body: OFFER });
    const { fields } = await node.frame();
    node.app.send(`2|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n${ANSWER}`);
    await node.frame();
    await node.heard('200');
    await node.say('ACK', [], { branch: 'ack-2', to: tag, cseq: 2 });
    await node.frame();
    after(1790);
    expect(node.server.stats.dialogs).to.equal(1);
    after(20);
    await expectExpired();
  });

  it("refresh a call at the caller's request, without the application", async () => {
    const { session } = await answered('x: 1800;refresher=uas');
    expect(session).to.equal('1800;refresher=uas');
    for (const round of [1, 2]) {
      const refresh = await refreshing();
      expect(refresh.header('session-expires')).to.equal('1800;refresher=uac');
      expect(refresh.header('min-se')).to.equal('90');
      expect(refresh.header('content-type')).to.equal('application/sdp');
      expect(refresh.body.toString(), `round ${round}`).to.equal(ANSWER);
      await node.answer(refresh, '200 OK', '', [contact(), 'Session-Expires: 1800;refresher=uac']);
      expect((await node.heard('ACK')).cseq.number).to.equal(refresh.cseq.number);
    }
    expect(await node.app.inbox.take(20)).to.equal(undefined);
    await node.answer(await refreshing(), '481 Gone', '');
    await expectExpired();
  });

  it('end a call with an unanswered refresh', async () => {
    await answered('Session-Expires: 1800;refresher=uas');
    await refreshing();
    after(60);
    await expectExpired();
  });

  it('repeat the refresh later when it crosses a re-INVITE', async () => {
    await answered('Session-Expires: 1800;refresher=uas');
    await node.answer(await refreshing(), '491 Request Pending', '');
    await node.heard('ACK');
    await refreshing();
    expect(node.server.stats.dialogs).to.equal(1);
  });

  it('need a refresher in the offer, unless the application sets one', async () => {
    const { session } = await answered('Session-Expires: 1800');
    expect(session).to.equal(undefined);
    after(4000);
    expect(node.server.stats.dialogs).to.equal(1);
    await node.close();
    const decided = await answered('Session-Expires: 1800', 'Session-Expires: 1200;refresher=uac\r\n');
    expect(decided.session).to.equal('1200;refresher=uac');
    after(1210);
    await expectExpired();
  });

  it('refuse a too small interval, without the application', async () => {
    const { tag } = await answered('Session-Expires: 1800;refresher=uac');
    await node.say('UPDATE', [contact(), 'Session-Expires: 60'], { to: tag, cseq: 2 });
    expect((await node.heard('422')).header('min-se')).to.equal('90');
    expect(await node.app.inbox.take(20)).to.equal(undefined);
  });

  it('let the called phone refresh at its request', async () => {
    await called('Session-Expires: 600;refresher=uas');
    after(590);
    expect(node.server.stats.dialogs).to.equal(1);
    after(20);
    await expectExpired();
  });

  it('refresh at the request of the called phone', async () => {
    await called('Session-Expires: 1800;refresher=uac');
    expect((await refreshing()).body.toString()).to.equal(OFFER);
  });

  it('send no flood of refreshes at the request of the called phone', async () => {
    await called('Session-Expires: 0;refresher=uac');
    after(39);
    expect(await node.phone.inbox.take(20)).to.equal(undefined);
    after(12);
    await node.heard('INVITE');
  });

  it('end with the call', async () => {
    await answered('Session-Expires: 1800;refresher=uac');
    expect(node.server.stats.dialogs).to.equal(1);
    await node.say('BYE', [], { to: (await lastTag()) ?? '', cseq: 2 });
    await node.frame();
    timers.advance(200_000);
    expect(node.server.stats.timers).to.equal(0);
  });

  async function lastTag(): Promise<string | undefined> {
    node.app.send(`9|sip||call-1;from-tag=alice1\r\nOPTIONS sip:placeholder SIP/2.0\r\n\r\n`);
    const options = await node.heard('OPTIONS');
    await node.frame();
    await node.answer(options, '200 OK', '');
    await node.frame();
    return options.fromTag;
  }
});
