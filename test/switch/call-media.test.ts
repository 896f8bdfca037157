import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { CallMedia } from '../../runtime/switch/call-media.ts';
import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';

/** A call whose media server takes so long to speak. */
class SpeakingMedia extends CallMedia {
  readonly state = 'connected';
  readonly endSignal = new AbortController().signal;
  protected readonly listenTo = undefined;
  readonly #speechMs: number;

  constructor(speechMs: number) {
    super();
    this.#speechMs = speechMs;
  }

  protected media(): MediaEndpoint {
    const speak = async (): Promise<void> => void (await pause(this.#speechMs));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only part of it that speaks
    return { speak } as unknown as MediaEndpoint;
  }

  sendDtmf(): Promise<void> {
    return Promise.resolve();
  }
}

describe('speaking to a party', () => {
  const say = (speechMs: number, text: string) =>
    new SpeakingMedia(speechMs).say(text, { signal: new AbortController().signal }).then(
      ({ digit }) => digit ?? 'spoken',
      (error: { code?: string }) => error.code,
    );

  it('is unavailable where the media server is done with a text at once', async () => {
    expect(await say(0, 'You are number 3')).to.equal('unavailable');
    expect(await say(400, 'You are number 3')).to.equal('spoken');
    expect(await say(0, '...')).to.equal('spoken');
  });
});
