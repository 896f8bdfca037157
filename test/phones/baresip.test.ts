import { expect } from 'chai';
import { Baresip } from './baresip.ts';
import { requirePeer } from './peers.ts';
import { Phone } from './phone.ts';
import { parseNameAddr } from './sip/address.ts';

/** The test phone against an independent SIP stack, so that it does not only agree with itself. */
describe('test phone and baresip', () => {
  let phone: Phone | undefined;
  let baresip: Baresip | undefined;

  afterEach(async () => {
    await baresip?.stop();
    await phone?.stop();
    baresip = undefined;
    phone = undefined;
  });

  for (const transport of ['udp', 'tcp'] as const) {
    it(`call each other over ${transport}, hold, and hang up from either side`, async function () {
      const program = requirePeer(this, 'baresip');
      const bob = await Phone.start({ login: 'bob', domain: 'test.local', transport });
      phone = bob;
      const server = bob.contact.replace(/^sip:bob@|;.*$/g, '');
      const account = { login: 'eve', domain: 'test.local', password: 'x', server, transport, registers: false };
      baresip = await Baresip.start(program, { ...account, tone: 500 });
      baresip.dial(bob.contact);
      const first = await bob.incoming();
      first.ring();
      await first.answer();
      await first.hears(500);
      await first.sendDtmf('7');
      await first.hold();
      await first.unhold();
      await first.hears(500);
      await first.hangup();
      await baresip.event('CALL_CLOSED');
      baresip.dial(bob.contact);
      const second = await bob.incoming();
      await second.answer();
      await baresip.event('CALL_ESTABLISHED');
      baresip.hangup();
      expect((await second.ended()).by).to.equal('there');
      await baresip.event('CALL_CLOSED');
      const third = await bob.call(parseNameAddr(first.header('Contact') ?? '').uri);
      await baresip.event('CALL_INCOMING');
      baresip.accept();
      await third.answered();
      await third.hears(500);
      await third.hangup();
      expect(bob.violations, bob.trace().join('\n')).to.deep.equal([]);
    });
  }
});
