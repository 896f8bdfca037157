import { expect } from 'chai';
import { type CollectSettings, collectDigits } from '../../runtime/media/collect.ts';
import { ScriptedEndpoint } from './scripted-endpoint.ts';

const never = new AbortController().signal;
const settings = (changes: Partial<CollectSettings> = {}): CollectSettings => ({
  signal: never,
  prompt: [],
  min: 1,
  max: 4,
  timeoutMs: 1000,
  interDigitMs: 1000,
  terminators: '#',
  ...changes,
});

const type = (endpoint: ScriptedEndpoint, digits: string) => {
  for (const digit of digits) endpoint.digits.push(digit);
};

describe('collecting digits', () => {
  let endpoint: ScriptedEndpoint;
  beforeEach(() => {
    endpoint = new ScriptedEndpoint();
  });

  it('ends with the last requested digit', async () => {
    const collected = collectDigits(endpoint.asEndpoint, settings({ max: 2 }));
    type(endpoint, '12');
    expect(await collected).to.deep.equal({ digits: '12', reason: 'complete', terminator: undefined });
  });

  it('ends with a terminator, which is not part of the digits', async () => {
    const collected = collectDigits(endpoint.asEndpoint, settings());
    type(endpoint, '7#');
    expect(await collected).to.deep.equal({ digits: '7', reason: 'terminator', terminator: '#' });
  });

  it('ends after silence: complete with enough digits, a timeout with too few', async () => {
    const enough = collectDigits(endpoint.asEndpoint, settings({ interDigitMs: 5 }));
    type(endpoint, '7');
    expect((await enough).reason).to.equal('complete');
    const few = collectDigits(endpoint.asEndpoint, settings({ min: 2, interDigitMs: 5 }));
    type(endpoint, '7');
    expect(await few).to.include({ digits: '7', reason: 'timeout' });
    expect(await collectDigits(endpoint.asEndpoint, settings({ timeoutMs: 5 }))).to.include({
      digits: '',
      reason: 'timeout',
    });
  });

  it('interrupts the prompt with the first digit', async () => {
    const collected = collectDigits(endpoint.asEndpoint, settings({ max: 1, prompt: ['a.wav', 'b.wav'] }));
    await endpoint.sound;
    type(endpoint, '1');
    expect((await collected).digits).to.equal('1');
    expect(endpoint.played).to.deep.equal(['a.wav']);
  });

  it("starts the first digit's time at the end of the prompt", async () => {
    const collected = collectDigits(endpoint.asEndpoint, settings({ timeoutMs: 5, prompt: ['a.wav'] }));
    await endpoint.sound;
    let over = false;
    void collected.then(() => {
      over = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(over).to.equal(false);
    endpoint.finishSound();
    expect((await collected).reason).to.equal('timeout');
  });

  it('uses digits typed ahead, without playing the prompt', async () => {
    type(endpoint, '129');
    const collected = await collectDigits(endpoint.asEndpoint, settings({ max: 2, prompt: ['a.wav'] }));
    expect(collected.digits).to.equal('12');
    expect(endpoint.played).to.deep.equal([]);
    expect(endpoint.digits.take()).to.equal('9');
  });

  it('fails with the end of the call, and with the reason of its signal', async () => {
    const hungUp = collectDigits(endpoint.asEndpoint, settings());
    endpoint.hangUp();
    await hungUp.then(
      () => expect.fail('it did not fail'),
      (error: Error) => expect(error.name).to.equal('EndpointGone'),
    );
    const stop = new AbortController();
    const stopped = collectDigits(
      new ScriptedEndpoint().asEndpoint,
      settings({ signal: stop.signal, prompt: ['a.wav'] }),
    );
    stop.abort(new Error('stopped'));
    await stopped.then(
      () => expect.fail('it did not fail'),
      (error: Error) => expect(error.message).to.equal('stopped'),
    );
  });
});
