import { expect } from 'chai';
import { header } from '../phones/sip/message.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk, referProgress } from './expectations.ts';

/** A Replaces value with either tag wrong, with a missing tag, and with swapped tags. */
function wrongTags(replaces: string): string[] {
  const [callId = '', toTag = '', fromTag = ''] = replaces.split(/;(?:to|from)-tag=/);
  const value = (to: string, from: string) => `${callId};to-tag=${to};from-tag=${from}`;
  return [value(`${toTag}x`, fromTag), value(toTag, `${fromTag}x`), value(toTag, '0'), value(fromTag, toTag)];
}

const referTo = (value: string) => [{ name: 'Refer-To', value }];

describe('REFER by a phone', () => {
  const stage = useStage();

  for (const who of ['the caller', 'the called party'] as const) {
    it(`blind transfer by ${who} connects peer and target; the phone gets the progress and is released`, async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const [referrer, peer] = who === 'the caller' ? [outgoing, incoming] : [incoming, outgoing];
      expect((await referrer.request('REFER', referTo('<sip:103@demo.local>'))).status).to.equal(202);
      const arriving = await carol.incoming();
      arriving.ring();
      await peer.hearsSound({ withinMs: 2000 });
      await arriving.answer();
      expect(await referProgress(referrer)).to.deep.equal([
        'SIP/2.0 100 Trying',
        'SIP/2.0 180 Ringing',
        'SIP/2.0 200 OK',
      ]);
      await referrer.ended();
      await expectTalk(peer, arriving);
      const dialog = await stage.dialog();
      expect(dialog.status).to.equal('dialog');
      expect(dialog.callids).to.have.length(2);
    });
  }

  it('compact header names are understood', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const referred = await outgoing.request('REFER', [{ name: 'r', value: '<sip:103@demo.local>' }]);
    expect(referred.status).to.equal(202);
    await (await carol.incoming()).answer();
    await outgoing.ended();
    await incoming.hangup();
  });

  it('a refused blind transfer returns the peer', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const before = await stage.dialog();
    expect((await outgoing.request('REFER', referTo('<sip:103@demo.local>'))).status).to.equal(202);
    (await carol.incoming()).reject(486);
    expect((await referProgress(outgoing)).at(-1)).to.equal('SIP/2.0 486 Busy Here');
    await expectTalk(outgoing, incoming);
    expect((await stage.dialog()).dialogid).to.equal(before.dialogid);
  });

  // Browsers with SIP.js name the Contact, as RFC 5589 section 7 recommends; the node's has no user.
  for (const named of ['number', 'Contact'] as const)
    it(`an attended transfer connects the two other parties, whose target is named by ${named}`, async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const first = await stage.connect(alice, bob, '102');
      await first.outgoing.hold();
      const second = await stage.connect(alice, carol, '103');
      const uri = named === 'number' ? 'sip:103@demo.local' : second.outgoing.remoteTarget;
      const target = referTo(`<${uri}?Replaces=${encodeURIComponent(second.outgoing.replaces)}>`);
      expect((await first.outgoing.request('REFER', target)).status).to.equal(202);
      expect((await referProgress(first.outgoing)).at(-1)).to.equal('SIP/2.0 200 OK');
      await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
      await expectTalk(first.incoming, second.incoming);
      const dialog = await stage.dialog();
      expect(dialog.callids).to.have.length(2);
    });

  it('a blind transfer works for a held peer, and while the peer itself holds and resumes', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.hold();
    expect((await outgoing.request('REFER', referTo('<sip:103@demo.local>'))).status).to.equal(202);
    const arriving = await carol.incoming();
    arriving.ring();
    // A re-INVITE of the party in transfer.
    await incoming.hold();
    await arriving.answer();
    await outgoing.ended();
    await incoming.unhold();
    await expectTalk(incoming, arriving);
  });

  it('an attended transfer releases the phone even when one of the other parties has vanished', async () => {
    for (const vanishing of ['bob', 'carol'] as const) {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const first = await stage.connect(alice, bob, '102');
      await first.outgoing.hold();
      const second = await stage.connect(alice, carol, '103');
      await (vanishing === 'bob' ? bob : carol).stop({ abruptly: true });
      const target = referTo(`<sip:103@demo.local?Replaces=${encodeURIComponent(second.outgoing.replaces)}>`);
      expect((await first.outgoing.request('REFER', target)).status).to.equal(202);
      expect((await referProgress(first.outgoing)).at(-1)).to.equal('SIP/2.0 200 OK');
      await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
      const left = vanishing === 'bob' ? second.incoming : first.incoming;
      await left.hangup();
      await stage.expectNoDialog();
    }
  });

  it('a blind transfer is cancelled when the peer hangs up while the target rings', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    expect((await outgoing.request('REFER', referTo('<sip:103@demo.local>'))).status).to.equal(202);
    const arriving = await carol.incoming();
    arriving.ring();
    await incoming.hearsSound({ withinMs: 2000 });
    await incoming.hangup();
    expect((await arriving.ended()).by).to.equal('cancelled');
    expect((await referProgress(outgoing)).at(-1)).to.equal('SIP/2.0 487 Request Terminated');
    expect((await outgoing.ended()).by).to.equal('there');
  });

  it('a blind transfer to another host gets 404, even when the number exists here', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    for (const elsewhere of [
      '<sip:103@elsewhere.example>',
      '<sip:103@192.0.2.9>',
      '<sip:carol@demo.local.example:5060>',
      '<sip:103@master>',
    ]) {
      expect((await outgoing.request('REFER', referTo(elsewhere))).status).to.equal(202);
      expect(await referProgress(outgoing), elsewhere).to.deep.equal(['SIP/2.0 100 Trying', 'SIP/2.0 404 Not Found']);
    }
    await expectTalk(outgoing, incoming);
    expect(carol.waitingCalls).to.equal(0);
    // The server's own address, and the domain in another case, are local.
    for (const here of [`<sip:103@${stage.node.sip};transport=udp>`, '<sip:103@Demo.Local>', '<tel:103>']) {
      expect((await outgoing.request('REFER', referTo(here))).status).to.equal(202);
      (await carol.incoming()).reject(486);
      expect((await referProgress(outgoing)).at(-1), here).to.equal('SIP/2.0 486 Busy Here');
    }
  });

  it('a blind transfer continues when the phone hangs up after the 202 (RFC 5589 section 6.1)', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    expect((await outgoing.request('REFER', referTo('<sip:103@demo.local>'))).status).to.equal(202);
    await outgoing.hangup();
    const arriving = await carol.incoming();
    arriving.ring();
    await arriving.answer();
    await expectTalk(incoming, arriving);
    // Also for an attended transfer.
    const first = await stage.connect(carol, alice, '101');
    await first.outgoing.hold();
    await arriving.hold();
    const target = referTo(`<sip:101@demo.local?Replaces=${encodeURIComponent(first.outgoing.replaces)}>`);
    expect((await arriving.request('REFER', target)).status).to.equal(202);
    await arriving.hangup();
    await first.outgoing.ended();
    await expectTalk(incoming, first.incoming);
  });

  for (const who of ['the caller', 'the called party'] as const) {
    it(`a refused blind transfer ends the call of the peer when the phone, ${who}, has hung up`, async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const [phone, peer] = who === 'the caller' ? [outgoing, incoming] : [incoming, outgoing];
      expect((await phone.request('REFER', referTo('<sip:103@demo.local>'))).status).to.equal(202);
      const arriving = await carol.incoming();
      arriving.ring();
      await phone.hangup();
      arriving.reject(486);
      expect((await peer.ended()).by).to.equal('there');
      await stage.expectNoDialog();
    });
  }

  it('an impossible attended transfer is reported and leaves both calls unchanged', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const target = referTo(`<sip:103@demo.local?Replaces=${encodeURIComponent(outgoing.replaces)}>`);
    expect((await outgoing.request('REFER', target)).status).to.equal(202);
    expect((await referProgress(outgoing)).at(-1)).to.equal('SIP/2.0 482 Loop Detected');
    await expectTalk(outgoing, incoming);
  });

  it('NOTIFYs of a later REFER are distinct, and absent when the phone declines them (RFC 4488)', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const events: string[] = [];
    for (let time = 0; time < 2; time++) {
      await outgoing.request('REFER', referTo('<sip:103@demo.local>'));
      (await carol.incoming()).reject(486);
      await outgoing.notifies.next(5000);
      events.push(header(await outgoing.notifies.next(5000), 'event') ?? '');
    }
    expect(events[0]).to.equal('refer');
    expect(events[1]).to.match(/^refer;id=\d+$/);
    const silently = { name: 'Refer-Sub', value: 'false' };
    const required = { name: 'Require', value: 'norefersub' };
    const accepted = await outgoing.request('REFER', [...referTo('<sip:103@demo.local>'), silently, required]);
    expect(accepted.status).to.equal(202);
    expect(header(accepted, 'refer-sub')).to.equal('false');
    await (await carol.incoming()).answer();
    await outgoing.ended();
    expect(outgoing.notifies.pending).to.equal(0);
  });

  it('another method than INVITE, several targets, or an unknown extension is refused', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const refused = async (value: string, more: { name: string; value: string }[] = []) =>
      outgoing.request('REFER', [...referTo(value), ...more]);
    expect((await refused('<sip:103@demo.local;method=BYE>')).status).to.equal(501);
    expect((await refused('<sip:103@demo.local>, <sip:104@demo.local>')).status).to.equal(400);
    const extension = await refused('<sip:103@demo.local>', [{ name: 'Require', value: 'norefersub, nosuch' }]);
    expect(extension.status).to.equal(420);
    expect(header(extension, 'unsupported')).to.equal('nosuch');
    const calling = await alice.call('103', { headers: [{ name: 'Require', value: 'nosuch' }] });
    expect((await calling.ended()).status).to.equal(420);
    expect(carol.waitingCalls).to.equal(0);
    await expectTalk(outgoing, incoming);
  });

  it('an empty target or an unknown dialog is refused', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    expect((await outgoing.request('REFER', referTo('nonsense'))).status).to.equal(400);
    const gone = '<sip:103@demo.local?Replaces=nobody%3Bto-tag%3D1%3Bfrom-tag%3D2>';
    expect((await outgoing.request('REFER', referTo(gone))).status).to.equal(481);
    await expectTalk(outgoing, incoming);
  });

  it('an attended transfer requires both tags of the other dialog (RFC 3891 section 3)', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const first = await stage.connect(alice, bob, '102');
    await first.outgoing.hold();
    const second = await stage.connect(alice, carol, '103');
    for (const wrong of wrongTags(second.outgoing.replaces)) {
      const target = referTo(`<sip:103@demo.local?Replaces=${encodeURIComponent(wrong)}>`);
      expect((await first.outgoing.request('REFER', target)).status, wrong).to.equal(481);
    }
    const untagged = referTo(`<sip:103@demo.local?Replaces=${encodeURIComponent(second.outgoing.callId)}>`);
    expect((await first.outgoing.request('REFER', untagged)).status).to.equal(400);
    await expectTalk(second.outgoing, second.incoming);
  });
});

describe('INVITE with Replaces by a phone', () => {
  const stage = useStage();

  it('takes over the peer, and the replaced phone is released', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const headers = [{ name: 'Replaces', value: outgoing.replaces }];
    const taking = await carol.call('102', { headers });
    await taking.answered();
    await outgoing.ended();
    await expectTalk(taking, incoming);
    const dialog = await stage.dialog();
    expect(dialog.opts.replaces).to.equal(outgoing.replaces);
    expect(dialog.acallid).to.equal(taking.callId);
  });

  for (const phones of [1, 2]) {
    it(`answers a call that rings at ${phones} phone${phones > 1 ? 's' : ''}`, async () => {
      const [alice, carol] = await stage.phones('alice', 'carol');
      const desks = await Promise.all(Array.from({ length: phones }, () => stage.phone('bob')));
      const outgoing = await alice.call('102');
      const ringing = await Promise.all(desks.map((desk) => desk.incoming()));
      for (const call of ringing) call.ring();
      await outgoing.ringing();
      const before = await stage.dialog();
      const value = `${ringing[0]?.replaces};early-only`;
      const taking = await carol.call('102', { headers: [{ name: 'Replaces', value }] });
      await Promise.all([taking.answered(), outgoing.answered()]);
      for (const call of ringing) expect((await call.ended()).by).to.equal('cancelled');
      await expectTalk(outgoing, taking);
      const dialog = await stage.dialog();
      expect(dialog).to.include({ status: 'dialog', dialogid: before.dialogid, acallid: outgoing.callId });
      expect(dialog.callids).to.have.members([outgoing.callId, taking.callId]);
      await taking.hangup();
      expect((await outgoing.ended()).by).to.equal('there');
    });
  }

  it('is refused for the caller of a ringing call, and with early-only for an answered call', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    await outgoing.ringing();
    const replacing = async (value: string) =>
      (await (await carol.call('102', { headers: [{ name: 'Replaces', value }] })).ended()).status;
    expect(await replacing(`${outgoing.callId};to-tag=1;from-tag=2`)).to.equal(481);
    for (const wrong of wrongTags(incoming.replaces)) expect(await replacing(wrong), wrong).to.equal(481);
    expect(incoming.live).to.equal(true);
    await incoming.answer();
    await outgoing.answered();
    expect(await replacing(`${outgoing.replaces};early-only`)).to.equal(486);
    await expectTalk(outgoing, incoming);
  });

  it('is refused without both tags of the dialog (RFC 3891 section 3)', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const replacing = async (value: string) =>
      (await (await carol.call('102', { headers: [{ name: 'Replaces', value }] })).ended()).status;
    for (const { replaces } of [outgoing, incoming]) {
      for (const wrong of wrongTags(replaces)) expect(await replacing(wrong), wrong).to.equal(481);
    }
    for (const malformed of [outgoing.callId, `${outgoing.replaces};to-tag=1`, ';to-tag=1;from-tag=2']) {
      expect(await replacing(malformed), malformed).to.equal(400);
    }
    await expectTalk(outgoing, incoming);
    // The called party can also be replaced.
    const taking = await carol.call('102', { headers: [{ name: 'Replaces', value: incoming.replaces }] });
    await taking.answered();
    await incoming.ended();
    await expectTalk(outgoing, taking);
  });

  it('is refused for an unknown call', async () => {
    const [carol] = await stage.phones('carol');
    const headers = [{ name: 'Replaces', value: 'nobody;to-tag=1;from-tag=2' }];
    const taking = await carol.call('102', { headers });
    expect((await taking.ended()).status).to.equal(481);
  });
});

describe('call forwarding by a phone', () => {
  const stage = useStage();

  it('302 rings the other phone, which answers', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const outgoing = await alice.call('102');
    (await bob.incoming()).reject(302, { headers: [{ name: 'Contact', value: '<sip:103@demo.local>' }] });
    const arriving = await carol.incoming();
    arriving.ring();
    await arriving.answer();
    await outgoing.answered();
    await expectTalk(outgoing, arriving);
    expect((await stage.dialog()).uris).to.include('<sip:carol@demo.local>');
  });

  it('302 to a scenario or a room connects the caller there, when no other phone answers', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const desk = await stage.phone('bob');
    const outgoing = await alice.call('102');
    const forwarding = { headers: [{ name: 'Contact', value: '<sip:501@demo.local>' }] };
    const other = await desk.incoming();
    other.ring();
    (await bob.incoming()).reject(302, forwarding);
    await outgoing.ringing();
    other.reject(486);
    await outgoing.answered();
    outgoing.play(880);
    await outgoing.hears(880);
    await desk.unregister();
    const waiting = await carol.call('*7077');
    await waiting.answered();
    const second = await alice.call('102');
    (await bob.incoming()).reject(302, { headers: [{ name: 'Contact', value: '<sip:*7077@demo.local>' }] });
    await second.answered();
    await expectTalk(second, waiting);
  });

  it('302 to an unknown number or in a circle returns the redirection to the caller', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    for (const target of ['<sip:999@demo.local>', '<sip:102@demo.local>']) {
      const outgoing = await alice.call('102');
      (await bob.incoming()).reject(302, { headers: [{ name: 'Contact', value: target }] });
      expect((await outgoing.ended()).status).to.equal(302);
    }
  });
});
