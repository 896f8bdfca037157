import { expect } from 'chai';
import { DigitCollector } from '../../../runtime/embedded/media/apps/digit-collector.ts';
import { parsePlayAndGetDigits } from '../../../runtime/embedded/media/apps/play-and-get-digits.ts';
import { type Bench, type Endpoint, startBench } from './support/fixture.ts';
import { eventWithin } from './support/mini-srf.ts';
import { RtpPhone } from './support/rtp-phone.ts';

const RULES = { min: 2, max: 4, firstDigitMs: 200, nextDigitMs: 100, terminators: '#' };

describe('embedded media server: collecting digits', () => {
  it('ends at the maximum, a terminator, or a pause; too few digits are a failure', () => {
    const run = (actions: string): DigitCollector => {
      const collector = new DigitCollector(RULES);
      collector.startWaiting();
      for (const action of actions)
        if (action === '.') collector.tick();
        else collector.digit(action);
      return collector;
    };
    expect(run('1234')).to.include({ digits: '1234', result: 'success' });
    expect(run('12#')).to.include({ digits: '12', terminator: '#', result: 'success' });
    expect(run('1#')).to.include({ digits: '1', result: 'failure' });
    expect(run('12....')).to.include({ result: undefined });
    expect(run('12.....')).to.include({ digits: '12', result: 'timeout' });
    expect(run('1.....')).to.include({ digits: '1', result: 'failure' });
    expect(run('..........')).to.include({ digits: '', result: 'failure' });
    expect(run('.........')).to.include({ result: undefined });
  });

  it('does not count time while the prompt is played', () => {
    const collector = new DigitCollector(RULES);
    for (let frame = 0; frame < 100; frame += 1) collector.tick();
    expect(collector.result).to.equal(undefined);
  });

  it('reads the arguments as drachtio-fsmrf writes them', () => {
    expect(parsePlayAndGetDigits(String.raw`1 6 2 5000 # a.wav silence_stream://250 digits \d+ 2000`)).to.deep.equal({
      min: 1,
      max: 6,
      tries: 2,
      firstDigitMs: 5000,
      nextDigitMs: 2000,
      terminators: '#',
      prompt: 'a.wav',
      invalidPrompt: 'silence_stream://250',
      variable: 'digits',
      pattern: /\d+/,
    });
    expect(parsePlayAndGetDigits('1 6 x 5000 # a.wav')).to.equal(undefined);
  });

  describe('on a call', () => {
    let bench: Bench;
    let phone: RtpPhone;
    let endpoint: Endpoint;

    before(async () => {
      bench = await startBench();
      phone = await RtpPhone.open();
      endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
      phone.talk(endpoint.local.sdp, 0);
    });
    after(async () => {
      await endpoint.destroy();
      await phone.close();
      await bench.close();
    });

    it('repeats after digits that do not match, and uses digits typed during the repetition', async () => {
      const invalid = 'tone_stream://%(400,0,1100)';
      const collecting = endpoint.playCollect({
        file: 'silence_stream://60',
        min: 1,
        max: 1,
        tries: 2,
        timeout: 1500,
        regexp: '[1-3]',
        invalidFile: invalid,
      });
      const stopped = eventWithin(endpoint, 'playback-start', 3000);
      await stopped;
      phone.press('9');
      for (let file = ''; file !== invalid; ) {
        const [event] = (await eventWithin(endpoint, 'playback-start', 3000)) as [{ file: string }];
        file = event.file;
      }
      phone.press('2');
      expect(await collecting).to.include({ digits: '2', invalidDigits: '9' });
    });

    it('returns too few digits as well', async () => {
      const collecting = endpoint.playCollect({
        file: 'silence_stream://60',
        min: 3,
        max: 4,
        timeout: 800,
        digitTimeout: 200,
        invalidFile: 'silence_stream://60',
      });
      phone.press('7');
      expect(await collecting).to.include({ digits: '7' });
    });
  });
});
