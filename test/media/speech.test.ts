import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { NoSpeechEngine } from '../../runtime/media/media-error.ts';
import { playSources } from '../../runtime/media/play.ts';
import { speechArguments, speechSettings, spokenSource } from '../../runtime/media/speech-source.ts';
import { useLinkedServer } from './linked-server.ts';

describe('media: spoken sources', () => {
  const server = useLinkedServer();

  it('play among other sources, or are refused without a speech engine', async () => {
    const { endpoint, phone } = await server.endpoint();
    const sources = ['silence_stream://50', spokenSource('press one: or two', 'en'), 'silence_stream://50'];
    const settings = { signal: new AbortController().signal, stopDigits: '', repeat: 1 };
    const played = playSources(endpoint, sources, settings);
    if (spawnSync('espeak-ng', ['--version']).status === 0) {
      expect((await played).milliseconds).to.be.above(500);
      const loudest = Math.max(...phone.samples().map(Math.abs));
      expect(loudest, 'what the phone heard').to.be.above(1000);
    } else {
      const refused = await played.catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(NoSpeechEngine);
    }
    await endpoint.destroy();
  });

  it('are one line, and begin neither an offset nor a further variable', () => {
    expect(speechArguments('one@@two\r\nthree')).to.equal('say:one@two three');
    expect(speechSettings('en;x=y\n')).to.equal('tts_engine=espeak;tts_voice=enx=y');
  });
});
