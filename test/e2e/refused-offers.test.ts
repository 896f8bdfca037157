import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { REAL_MEDIA } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const ON_IPV6 = 'c=IN IP6 2001:db8::5';

/** Unacceptable media of a session description; `port` is that of the phone. */
const REFUSED: Readonly<Record<string, (port: string) => readonly string[]>> = {
  'G.729 alone': (port) => [
    `m=audio ${port} RTP/AVP 18 101`,
    'a=rtpmap:18 G729/8000',
    'a=rtpmap:101 telephone-event/8000',
  ],
  'G.729 on hold': (port) => [`m=audio ${port} RTP/AVP 18`, 'a=rtpmap:18 G729/8000', 'a=sendonly'],
  'a fax by T.38': (port) => [
    `m=image ${port} udptl t38`,
    'a=T38FaxVersion:0',
    'a=T38FaxRateManagement:transferredTCF',
  ],
  'a fax by T.38 in place of sound': (port) => [
    'm=audio 0 RTP/AVP 0',
    `m=image ${port} udptl t38`,
    'a=T38FaxVersion:0',
  ],
  'no sound': () => ['m=audio 0 RTP/AVP 0 8'],
  'video alone': (port) => [`m=video ${port} RTP/AVP 96`, 'a=rtpmap:96 H264/90000'],
  'encrypted sound without a usable key': (port) => [
    `m=audio ${port} RTP/SAVP 0`,
    `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${'d'.repeat(39)}`,
  ],
  'an IPv6 address, at a node without one': (port) => [`m=audio ${port} RTP/AVP 0`, ON_IPV6],
};

describe('an unacceptable re-INVITE offer', () => {
  const stage = useStage();

  for (const [what, media] of Object.entries(REFUSED)) {
    for (const side of ['caller', 'called phone'] as const) {
      it(`from the ${side} with ${what} is refused with 488 and keeps the session`, async () => {
        let refused = false;
        const describes = (sdp: string): string => {
          if (!refused) return sdp;
          const [session = '', port = ''] = sdp.split(/^m=audio (\d+)/m);
          return `${session}${media(port).join('\r\n')}\r\n`;
        };
        const { outgoing, incoming } = await stage.connect(
          await stage.phone('alice', { describes }),
          await stage.phone('bob', { describes }),
          '102',
        );
        await expectTalk(outgoing, incoming);
        const offerer = side === 'caller' ? outgoing : incoming;
        refused = true;
        for (const offer of ['reinvite', 'update', 'reinvite'] as const) {
          expect((await offerer[offer]()).status, offer).to.equal(488);
          await expectTalk(outgoing, incoming);
        }
        refused = false;
        await offerer.hold();
        await offerer.unhold();
        await expectTalk(outgoing, incoming);
      });
    }
  }
});

describe('a phone with sound over IPv6 at a node without IPv6', () => {
  const stage = useStage();

  it('is refused with 488 before a called phone rings, and the log says why', async () => {
    const alice = await stage.phone('alice', { describes: (sdp) => sdp.replace('c=IN IP4 127.0.0.1', ON_IPV6) });
    const bob = await stage.phone('bob');
    for (const number of ['501', '102']) {
      const call = await alice.call(number);
      expect((await call.ended()).status, number).to.equal(488);
      await stage.expectNoDialog();
      // The embedded media server refuses by itself, and says no more than 488.
      const reason = REAL_MEDIA
        ? 'the session description has the address 2001:db8::5'
        : 'the media server refused the endpoint';
      const isReason = (line: string): boolean => line.includes(call.callId) && line.includes('"call refused"');
      await eventually(async () => expect(stage.node.output.split('\n').find(isReason)).to.contain(reason));
    }
    expect(bob.trace().join('\n')).not.to.contain('INVITE');
  });
});
