import { expect } from 'chai';
import {
  type Answering,
  AnsweringAnalysis,
  type AnsweringLimits,
} from '../../../runtime/media/machine-detection/answering.ts';
import { speechPeers, spoken } from '../../speech/support/spoken.ts';
import { beep, GREETING, LIMITS, noise, quiet } from './support.ts';

/** The result for these sounds in pieces of 20 ms; undefined when they are too short for one. */
function analysed(sounds: readonly Int16Array[], limits: Partial<AnsweringLimits> = {}): Answering | undefined {
  const analysis = new AnsweringAnalysis({ ...LIMITS, ...limits });
  for (const sound of sounds)
    for (let at = 0; at < sound.length; at += 160) {
      const result = analysis.hear(sound.subarray(at, at + 160));
      if (result !== undefined) return result;
    }
  return undefined;
}

const hum = (ms: number): Int16Array => noise(ms, 3000);

describe('answering-machine detection', () => {
  it('a short greeting and a pause are a person', () => {
    const found = analysed([quiet(400), hum(500), quiet(2000)]);
    expect(found).to.deep.include({ result: 'human', cause: 'short_greeting', end: undefined, words: 1 });
    expect(found).to.deep.include({ silenceMs: 400, greetingMs: 500, milliseconds: 1700 });
  });

  for (const { what, sounds, limits = {}, expected } of [
    { what: 'silence', sounds: [quiet(3000)], expected: { cause: 'initial_silence', milliseconds: 2500 } },
    { what: 'a click in silence', sounds: [quiet(500), hum(40), quiet(3000)], expected: { cause: 'initial_silence' } },
    { what: 'long speech', sounds: [quiet(200), hum(2000)], expected: { cause: 'long_greeting', milliseconds: 1700 } },
    {
      what: 'many words',
      sounds: [1, 2, 3].flatMap(() => [hum(200), quiet(100)]),
      expected: { cause: 'many_words', words: 3, milliseconds: 700 },
    },
    {
      what: 'one long sound',
      sounds: [hum(4000)],
      limits: { maxWordMs: 1000, greetingMs: 3000 },
      expected: { cause: 'long_word', milliseconds: 1000 },
    },
    { what: 'a tone', sounds: [quiet(300), beep(1100, 500)], expected: { cause: 'beep', milliseconds: 420 } },
  ])
    it(`${what} is a machine`, () => {
      const found = analysed(sounds, { ...limits, endMs: undefined });
      expect(found).to.deep.include({ result: 'machine', end: undefined, ...expected });
    });

  it('is unsure without a decision in the time', () => {
    const sounds = Array.from({ length: 10 }, () => [hum(120), quiet(700)]).flat();
    expect(analysed(sounds, { maxWords: 20 })).to.deep.include({
      result: 'unsure',
      cause: 'total_time',
      milliseconds: 5000,
    });
  });

  it('waits for the end of the beep', () => {
    const found = analysed([hum(3000), quiet(1000), beep(1400, 400), quiet(3000)]);
    expect(found).to.deep.include({ result: 'machine', end: 'beep', milliseconds: 4420 });
  });

  it('a greeting without a beep ends by silence, and one without an end by time', () => {
    expect(analysed([hum(3000), quiet(4000)])).to.deep.include({ end: 'silence', milliseconds: 5500 });
    expect(analysed([hum(9000)], { endMs: 4000 })).to.deep.include({ end: 'timeout', milliseconds: 5500 });
  });

  for (const hz of [400, 850, 1000, 1400, 2000, 2500])
    it(`takes ${hz} Hz for a beep, also a short and noisy one`, () => {
      const found = analysed([hum(2000), quiet(500), beep(hz, 200, 200), quiet(3000)]);
      expect(found).to.deep.include({ end: 'beep' });
    });

  describe('with spoken greetings', function () {
    before(function () {
      if (!speechPeers()) this.skip();
    });

    for (const text of ['Hello?', 'Yes?', 'Miller.'])
      it(`"${text}" is a person`, () => {
        expect(analysed([spoken(text)])).to.deep.include({ result: 'human' });
      });

    it('a mailbox is a machine, whose speech has no beep in it', () => {
      const greeting = spoken(GREETING);
      const found = analysed([greeting, beep(1000, 300), quiet(1000)]);
      expect(found).to.deep.include({ result: 'machine', end: 'beep' });
      expect(found?.milliseconds).to.be.closeTo(greeting.length / 8 + 300, 40);
    });
  });
});
