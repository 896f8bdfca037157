import { expect } from 'chai';
import type { FsEndpoint } from 'drachtio-fsmrf';
import { ChannelSession, type SessionChannel } from '../../runtime/media/channel-session.ts';
import { SilenceLimit } from '../../runtime/media/silence-limit.ts';

const SUITE = 'AES_CM_128_HMAC_SHA1_80';
const [OFFERED, TAKEN, PHONES] = ['o', 't', 'p'].map((letter) => letter.repeat(40)) as [string, string, string];
const alive = new AbortController().signal;

function description(key: string): string {
  return `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/SAVP 0\r\na=crypto:7 ${SUITE} inline:${key}\r\na=ptime:20\r\n`;
}

/** A channel that describes itself by the offered key whatever happens, as FreeSWITCH's does. */
function channel(): FsEndpoint {
  const dialog = { local: { sdp: '' }, request: () => Promise.resolve({ status: 200, body: description(OFFERED) }) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part that a session uses
  return { local: { sdp: description(OFFERED) }, conn: null, dialog } as unknown as FsEndpoint;
}

function session(remote?: string): ChannelSession {
  return new ChannelSession(channel(), new SilenceLimit(0, remote), { srtp: 'required', remoteSdp: remote });
}

/** A variable with these values, one a question. */
function variable(...values: string[]): SessionChannel {
  return {
    set: () => Promise.resolve(),
    parkAnew: () => Promise.reject(new Error('parked')),
    get: () => Promise.resolve(values.length > 1 ? (values.shift() as string) : (values[0] as string)),
  };
}

describe('the key of an endpoint after the answer to its offer', () => {
  const line = (key: string): string => `7 ${SUITE} inline:${key}`;

  it('is the one that the media server takes then, and the phone has to learn it', async () => {
    const called = session();
    const answer = await called.modify(description(PHONES), alive, variable(line(OFFERED), line(OFFERED), line(TAKEN)));
    expect(answer).to.equal(description(TAKEN));
    expect(called.local).to.equal(answer);
    expect(called.rekeyed).to.equal(true);
    called.told();
    expect(called.rekeyed).to.equal(false);
    expect(await called.modify(description(PHONES), alive, variable(line(TAKEN)))).to.equal(description(TAKEN));
    expect(called.rekeyed).to.equal(false);
  });

  it('is the offered one at a media server that does not change it', async () => {
    for (const value of [line(OFFERED), '_undef_', '-ERR no such channel']) {
      const called = session();
      expect(await called.modify(description(PHONES), alive, variable(value)), value).to.equal(description(OFFERED));
      expect(called.rekeyed).to.equal(false);
    }
  });

  it('is not asked for after an offer of the phone', async () => {
    const calling = session(description(PHONES));
    const asked = { ...variable(''), get: () => Promise.reject(new Error('asked')) };
    expect(await calling.modify(description(PHONES), alive, asked)).to.equal(description(OFFERED));
    expect(calling.rekeyed).to.equal(false);
  });
});
