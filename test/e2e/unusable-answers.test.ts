import { expect } from 'chai';
import type { Phone } from '../phones/phone.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

/** Unusable session descriptions of a phone. */
const UNUSABLE: Readonly<Record<string, (sdp: string) => string>> = {
  'G.729 alone': (sdp) => sdp.replace(/^m=audio (\d+)[\s\S]*/m, 'm=audio $1 RTP/AVP 18\r\na=rtpmap:18 G729/8000\r\n'),
  'refused sound': (sdp) => sdp.replace(/^m=audio \d+/m, 'm=audio 0'),
  'no session description': () => '',
  'an IPv6 address, at a node without one': (sdp) => sdp.replace('c=IN IP4 127.0.0.1', 'c=IN IP6 2001:db8::5'),
};

describe('an unusable session description in an answer', () => {
  const stage = useStage();
  const phone = (login: 'alice' | 'bob', describes: (sdp: string) => string): Promise<Phone> =>
    stage.phone(login, { describes, tolerates: /the offer in the 200 has no common codec/ });

  for (const [what, describes] of Object.entries(UNUSABLE)) {
    it(`${what} in the 200: the caller gets 488 and the called phone BYE`, async () => {
      const alice = await stage.phone('alice');
      const bob = await phone('bob', describes);
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await incoming.answer();
      expect((await outgoing.refused()).status).to.equal(488);
      expect((await incoming.ended()).by).to.equal('there');
      await stage.expectNoDialog();
    });

    it(`${what} in the 200: another phone of the account can take the call`, async () => {
      const alice = await stage.phone('alice');
      const desk = await phone('bob', describes);
      const mobile = await stage.phone('bob');
      const outgoing = await alice.call('102');
      const [wrong, right] = [await desk.incoming(), await mobile.incoming()];
      right.ring();
      await wrong.answer();
      expect((await wrong.ended()).by).to.equal('there');
      await right.answer();
      await outgoing.answered();
      await expectTalk(outgoing, right);
    });

    for (const number of ['102', '500']) {
      it(`${what} in the ACK of an INVITE without an offer: the call to ${number} ends`, async () => {
        const alice = await phone('alice', describes);
        const bob = await stage.phone('bob');
        const outgoing = await alice.call(number, { lateOffer: true });
        const incoming = number === '102' ? await bob.incoming() : undefined;
        await incoming?.answer();
        expect((await outgoing.ended()).by).to.equal('there');
        expect((await incoming?.ended())?.by ?? 'there').to.equal('there');
        await stage.expectNoDialog();
      });
    }
  }

  it('a 200 without one is accepted after one in a 183', async () => {
    let described = false;
    const [alice, bob] = [
      await stage.phone('alice'),
      await phone('bob', (sdp) => {
        if (described) return '';
        described = true;
        return sdp;
      }),
    ];
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ringWithEarlyMedia();
    await outgoing.earlyMedia();
    await incoming.answer();
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
  });
});
