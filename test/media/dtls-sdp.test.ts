import { expect } from 'chai';
import type { FsEndpoint } from 'drachtio-fsmrf';
import { ChannelSession } from '../../runtime/media/channel-session.ts';
import { MediaError } from '../../runtime/media/media-error.ts';
import { SilenceLimit } from '../../runtime/media/silence-limit.ts';

const FINGERPRINT = `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}\r\n`;
const HEAD = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n';
const alive = new AbortController().signal;

/** What FreeSWITCH offers, and repeats as the answer to each later offer. */
const OWN = `${HEAD}a=ice-lite\r\nm=audio 4000 RTP/SAVPF 0\r\n${FINGERPRINT}a=setup:actpass\r\na=ice-ufrag:own\r\na=sendrecv\r\n`;

function browsers(setup: string, more = 'a=sendrecv\r\n'): string {
  return `${HEAD}a=group:BUNDLE x\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:x\r\n${FINGERPRINT}a=setup:${setup}\r\na=ice-ufrag:far\r\na=candidate:1 1 udp 1 host.local 5000 typ host\r\n${more}`;
}

/** A channel of FreeSWITCH, made without a far end. */
function called() {
  const shown: string[] = [];
  const set: string[] = [];
  const dialog = {
    local: { sdp: '' },
    request: ({ body }: { body: string }) => {
      shown.push(body);
      return Promise.resolve({ status: 200, body: OWN });
    },
  };
  const conn = {
    getInfo: () => ({ getHeader: (name: string) => (name === 'variable_dtls_client' ? 'true' : undefined) }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part that a session uses
  const channel = { local: { sdp: OWN }, conn, dialog } as unknown as FsEndpoint;
  const session = new ChannelSession(channel, new SilenceLimit(0, undefined), {});
  const variables = {
    set: async (variable: string) => void set.push(variable),
    get: async () => '',
    parkAnew: async () => undefined,
  };
  return { session, shown, set, take: (sdp: string) => session.modify(sdp, alive, variables) };
}

describe('the descriptions of a called browser and FreeSWITCH', () => {
  it('an offer has a name, the whole profile, and makes the media server the client of DTLS', () => {
    expect(called().session.local)
      .to.match(/^m=audio 4000 UDP\/TLS\/RTP\/SAVPF 0\r$/m)
      .and.match(/^a=group:BUNDLE 0\r$/m)
      .and.match(/^a=mid:0\r$/m)
      .and.match(/^a=setup:active\r$/m)
      .and.not.include('actpass');
  });

  it('the answer comes with a candidate that FreeSWITCH takes, and checks begin with the first answer alone', async () => {
    const { shown, set, take } = called();
    await take(browsers('passive'));
    await take(browsers('actpass'));
    for (const sdp of shown) {
      expect(sdp).to.include('a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n').and.include('a=setup:actpass\r\n');
    }
    expect(shown).to.have.length(2);
    expect(set).to.deep.equal(['ice_lite false']);
  });

  for (const [asked, given] of [
    ['sendonly', 'recvonly'],
    ['recvonly', 'sendonly'],
    ['inactive', 'inactive'],
  ] as const) {
    it(`${asked} is answered by ${given}, in the same roles, and hidden from FreeSWITCH`, async () => {
      const { shown, take } = called();
      await take(browsers('passive'));
      const answer = await take(browsers('actpass', `a=${asked}\r\n`));
      expect(answer.match(/^a=(?:mid|setup|group|send|recv|inact).*/gm)).to.have.members([
        'a=group:BUNDLE x',
        'a=mid:x',
        'a=setup:active',
        `a=${given}`,
      ]);
      expect(shown[1]).not.to.include(asked);
    });
  }

  it('a far end that wants to be the client of DTLS is refused', async () => {
    const refused = await called()
      .take(browsers('active'))
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(MediaError).with.property('status', 488);
  });
});
