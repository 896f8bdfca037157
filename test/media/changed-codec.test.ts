import { expect } from 'chai';
import type { FsEndpoint } from 'drachtio-fsmrf';
import { ChannelSession, type SessionChannel } from '../../runtime/media/channel-session.ts';
import { SilenceLimit } from '../../runtime/media/silence-limit.ts';

const OPUS = 'a=rtpmap:102 opus/48000/2\r\n';
const alive = new AbortController().signal;

function description(address: string, port: number, formats: string, more = ''): string {
  return `v=0\r\no=- 1 1 IN IP4 ${address}\r\ns=-\r\nc=IN IP4 ${address}\r\nt=0 0\r\nm=audio ${port} RTP/AVP ${formats}\r\n${more}`;
}

const OFFER = description('127.0.0.1', 4000, '102 0', OPUS);

/** A called phone's channel, and what it is told, in order. */
class Channel implements SessionChannel {
  readonly told: string[] = [];
  readonly #answers: string[];
  readonly session: ChannelSession;

  /** @param answers to questions about the codec, the last one again and again */
  constructor(answers: readonly string[], used: string | undefined) {
    this.#answers = [...answers];
    const getHeader = (name: string): string | undefined => (name === 'variable_rtp_use_codec_name' ? used : undefined);
    const request = ({ body }: { body: string }) => {
      this.told.push(`${/^c=IN IP4 (.*)\r$/m.exec(body)?.[1]}:${/^m=audio (\d+)/m.exec(body)?.[1]}`);
      return Promise.resolve({ status: 200, body: description('127.0.0.1', 4000, '0') });
    };
    const dialog = { local: { sdp: '' }, request };
    const endpoint = { local: { sdp: OFFER }, conn: { getInfo: () => ({ getHeader }) }, dialog };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part that a session uses
    this.session = new ChannelSession(endpoint as unknown as FsEndpoint, new SilenceLimit(0, undefined), {});
  }

  set(): Promise<void> {
    return Promise.resolve();
  }

  get(): Promise<string> {
    return Promise.resolve((this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]) ?? '');
  }

  parkAnew(): Promise<void> {
    this.told.push('park');
    return Promise.resolve();
  }

  answered(sdp: string): Promise<string> {
    return this.session.modify(sdp, alive, this);
  }
}

const OWN = '127.0.0.1:4000';
const PHONE = '192.0.2.9:7000';
const answer = description('192.0.2.9', 7000, '0', 'a=rtcp:7001\r\n');

describe('the answer of a called phone to an offer of FreeSWITCH', () => {
  it('changes the codec before the phone gets a packet, and parks the channel with it', async () => {
    const channel = new Channel(['opus', 'opus', 'PCMU'], 'opus');
    await channel.answered(answer);
    expect(channel.told).to.deep.equal([OWN, 'park', PHONE]);
    await channel.answered(answer);
    expect(channel.told).to.deep.equal([OWN, 'park', PHONE, PHONE]);
  });

  it('reaches the phone although the codec stays as it was', async () => {
    const channel = new Channel(['opus'], 'opus');
    await channel.answered(answer);
    expect(channel.told).to.deep.equal([OWN, PHONE]);
  });

  it('goes straight to a channel that has the codec, or changes it at once', async () => {
    for (const used of ['PCMU', undefined]) {
      const channel = new Channel([], used);
      await channel.answered(answer);
      expect(channel.told).to.deep.equal([PHONE]);
    }
  });
});
