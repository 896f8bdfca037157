import { expect } from 'chai';
import { playSources } from '../../runtime/media/play.ts';
import { ScriptedEndpoint } from './scripted-endpoint.ts';

const never = new AbortController().signal;

describe('playing', () => {
  let endpoint: ScriptedEndpoint;
  beforeEach(() => {
    endpoint = new ScriptedEndpoint();
  });

  async function finish(sounds: number): Promise<void> {
    for (let i = 0; i < sounds; i++) {
      await endpoint.sound;
      endpoint.finishSound();
    }
  }

  it('repeats a list as often as requested', async () => {
    const played = playSources(endpoint.asEndpoint, ['a', 'b'], { signal: never, stopDigits: '', repeat: 2 });
    await finish(4);
    expect(await played).to.deep.equal({ digit: undefined, milliseconds: 80 });
    expect(endpoint.played).to.deep.equal(['a', 'b', 'a', 'b']);
  });

  it('ends with a stop digit; other digits stay queued', async () => {
    const played = playSources(endpoint.asEndpoint, ['a', 'b'], { signal: never, stopDigits: '#', repeat: 1 });
    endpoint.digits.push('5');
    endpoint.digits.push('#');
    expect((await played).digit).to.equal('#');
    expect(endpoint.digits.take()).to.equal('5');
    expect(endpoint.played).to.deep.equal(['a']);
  });

  it('leaves all digits queued without stop digits', async () => {
    const played = playSources(endpoint.asEndpoint, ['a'], { signal: never, stopDigits: '', repeat: 1 });
    endpoint.digits.push('1');
    endpoint.finishSound();
    expect((await played).digit).to.equal(undefined);
    expect(endpoint.digits.take()).to.equal('1');
  });

  it('fails with the reason of its signal', async () => {
    const stop = new AbortController();
    const played = playSources(endpoint.asEndpoint, ['a'], { signal: stop.signal, stopDigits: '', repeat: 1 });
    stop.abort(new Error('stopped'));
    await played.then(
      () => expect.fail('it did not fail'),
      (error: Error) => expect(error.message).to.equal('stopped'),
    );
  });
});
