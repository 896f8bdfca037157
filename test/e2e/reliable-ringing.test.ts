import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { PhoneOptions } from '../phones/phone.ts';
import { header } from '../phones/sip/message.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

describe('a called phone whose provisional responses are reliable (RFC 3262)', () => {
  const stage = useStage();

  async function called(options: Partial<PhoneOptions>): Promise<{ outgoing: OutgoingCall; incoming: IncomingCall }> {
    const alice = await stage.phone('alice');
    const bob = await stage.phone('bob', options);
    const outgoing = await alice.call('102');
    return { outgoing, incoming: await bob.incoming() };
  }

  async function rings(outgoing: OutgoingCall, incoming: IncomingCall): Promise<void> {
    incoming.ring();
    await outgoing.ringing();
    await incoming.acknowledged();
  }

  for (const transport of ['udp', 'tcp'] as const)
    it(`demands that by 421, rings and talks, by ${transport}`, async () => {
      const { outgoing, incoming } = await called({ reliable: 'demanded', transport });
      await rings(outgoing, incoming);
      await incoming.answer();
      await outgoing.answered();
      await expectTalk(outgoing, incoming);
      await incoming.hangup();
      expect((await outgoing.ended()).by).to.equal('there');
    });

  it('is acknowledged where it rings so unasked', async () => {
    const { outgoing, incoming } = await called({ reliable: 'unasked' });
    await rings(outgoing, incoming);
    await incoming.answer();
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
  });

  it('is heard before its answer, which need not repeat the session description', async () => {
    const { outgoing, incoming } = await called({ reliable: 'demanded' });
    await rings(outgoing, incoming);
    incoming.ringWithEarlyMedia();
    await incoming.acknowledged();
    incoming.play(1300);
    await outgoing.hears(1300);
    await incoming.answer(5000, '');
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
  });

  it('is cancelled while it rings', async () => {
    const { outgoing, incoming } = await called({ reliable: 'demanded' });
    await rings(outgoing, incoming);
    await outgoing.hangup();
    expect((await incoming.ended()).by).to.equal('cancelled');
  });

  it('gets NOTIFYs in its early dialog, each with the next number', async () => {
    const { outgoing, incoming } = await called({ reliable: 'demanded' });
    await rings(outgoing, incoming);
    const { dialogid, legs } = await stage.dialog();
    const callid = legs.find(({ side }) => side === 'b')?.callid ?? '';
    for (let at = 0; at < 2; at += 1) {
      const body = { callid, event: 'talk' };
      const { status } = await (await stage.rest()).send('NOTIFY', `${CALLS}/${dialogid}`, { body });
      expect(status).to.equal(200);
      expect(header(await incoming.notifies.next(5000), 'event')).to.equal('talk');
    }
    incoming.ringWithEarlyMedia();
    await incoming.acknowledged();
    await incoming.answer();
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
  });
});
