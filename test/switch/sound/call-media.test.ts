import { expect } from 'chai';
import { CallMedia } from '../../../runtime/switch/sound/call-media.ts';
import type { MediaEndpoint } from '../../../runtime/media/endpoint.ts';
import { NoSpeechEngine } from '../../../runtime/media/media-error.ts';

/** A call whose media server speaks so. */
class SpeakingMedia extends CallMedia {
  readonly state = 'connected';
  readonly endSignal = new AbortController().signal;
  protected readonly listenTo = undefined;
  readonly #speak: () => Promise<number>;

  constructor(speak: () => Promise<number>) {
    super();
    this.#speak = speak;
  }

  protected media(): MediaEndpoint {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only part of it that speaks
    return { speak: this.#speak } as unknown as MediaEndpoint;
  }

  sendDtmf(): Promise<void> {
    return Promise.resolve();
  }
}

describe('speech to a party', () => {
  const say = (speak: () => Promise<number>): Promise<unknown> =>
    new SpeakingMedia(speak).say('You are number 3', { signal: new AbortController().signal }).then(
      ({ milliseconds }) => milliseconds,
      (error: { code?: string }) => error.code,
    );

  it('returns its duration, and is unavailable without a speech engine', async () => {
    expect(await say(() => Promise.resolve(400))).to.be.a('number');
    expect(await say(() => Promise.reject(new NoSpeechEngine()))).to.equal('unavailable');
  });
});
