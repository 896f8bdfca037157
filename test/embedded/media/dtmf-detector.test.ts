import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { DtmfDetector } from '../../../runtime/embedded/media/audio/dtmf-detector.ts';
import { readWav } from '../../../runtime/embedded/media/audio/wav.ts';
import { decode, encode } from '../../phones/media/g711.ts';
import { findProgram } from '../../phones/peers.ts';

const KEYS = '123A456B789C*0#D';
const LOW = [697, 770, 852, 941];
const HIGH = [1209, 1336, 1477, 1633];
/** Amplitude of a sine of 0 dBm0 (ITU-T G.711). */
const REFERENCE = 32_124 / 10 ** (3.14 / 20);

interface Form {
  /** Milliseconds. */
  readonly ms?: number;
  /** Level of both tones together, dBm0. */
  readonly level?: number;
  /** The high tone against the low one, dB. */
  readonly twist?: number;
  /** Error of both frequencies, as a share. */
  readonly off?: number;
}

function tones(
  rate: number,
  ms: number,
  parts: readonly (readonly [frequency: number, amplitude: number])[],
): Int16Array {
  return Int16Array.from({ length: Math.round((rate * ms) / 1000) }, (_, at) =>
    parts.reduce((sum, [frequency, amplitude]) => sum + amplitude * Math.sin((2 * Math.PI * frequency * at) / rate), 0),
  );
}

/** A key as a telephone line carries it: by G.711. */
function key(rate: number, name: string, { ms = 40, level = -10, twist = 0, off = 0 }: Form = {}): Int16Array {
  const at = KEYS.indexOf(name);
  const each = REFERENCE * 10 ** ((level - 3) / 20);
  const samples = tones(rate, ms, [
    [(LOW[at >> 2] as number) * (1 + off), each * 10 ** (-twist / 40)],
    [(HIGH[at & 3] as number) * (1 + off), each * 10 ** (twist / 40)],
  ]);
  return decode('PCMA', encode('PCMA', samples));
}

const silence = (rate: number, ms: number): Int16Array => new Int16Array(Math.round((rate * ms) / 1000));

function digitsIn(rate: number, ...parts: Int16Array[]): string {
  const detector = new DtmfDetector(rate);
  const digits = parts.flatMap((part) => detector.feed(part));
  return [...digits, ...detector.feed(silence(rate, 100))].map(({ digit }) => digit).join('');
}

/** The positions of a digit against the blocks of the detector. */
const STARTS = [0, 1.5, 3, 4.5, 6, 7.5];

describe('embedded media server: digits as tones', () => {
  for (const rate of [8000, 16_000]) {
    const each = (form: Form, expected: (name: string) => string): void => {
      for (const name of KEYS) {
        for (const start of STARTS) {
          const heard = digitsIn(rate, silence(rate, start), key(rate, name, form));
          expect(heard, `${name} ${JSON.stringify(form)} after ${start} ms`).to.equal(expected(name));
        }
      }
    };

    it(`keys of 40 ms are found at ${rate} Hz, loud and quiet, with twist, and with frequencies off by 1.5 % (Q.24)`, () => {
      for (const form of [
        {},
        { level: -3 },
        { level: -26 },
        { twist: 4 },
        { twist: -7 },
        { off: 0.015 },
        { off: -0.015 },
      ]) {
        each(form, (name) => name);
      }
    });

    it(`keys of 23 ms are none at ${rate} Hz`, () => each({ ms: 23 }, () => ''));

    it(`a pause of 40 ms parts two keys at ${rate} Hz, a break of 10 ms does not`, () => {
      for (const start of STARTS) {
        const long = key(rate, '5', { ms: 60 });
        expect(digitsIn(rate, silence(rate, start), long, silence(rate, 40), long)).to.equal('55');
        expect(digitsIn(rate, silence(rate, start), long, silence(rate, 10), long)).to.equal('5');
        expect(digitsIn(rate, silence(rate, start), long, key(rate, '8', { ms: 60 }))).to.equal('58');
      }
    });
  }

  it('the length of a key is reported', () => {
    const detector = new DtmfDetector(8000);
    const [digit] = [key(8000, '#', { ms: 300 }), silence(8000, 100)].flatMap((part) => detector.feed(part));
    expect(digit?.digit).to.equal('#');
    expect(digit?.duration).to.be.within(290, 310);
  });

  it('samples may come in any portions', () => {
    const whole = ['1', '5', '9', 'D'].flatMap((name) => [...key(8000, name), ...silence(8000, 40)]);
    for (const size of [1, 7, 160, 1000]) {
      const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
        Int16Array.from(whole.slice(at * size, (at + 1) * size)),
      );
      expect(digitsIn(8000, ...parts), `${size} at a time`).to.equal('159D');
    }
  });

  it('single tones, tones of exchanges, chords and noise are no keys', () => {
    const loud = REFERENCE * 10 ** (-13 / 20);
    for (const frequencies of [[697], [1209], [1100], [425], [350, 440], [480, 620], [697, 770], [1209, 1336]]) {
      const sound = tones(
        8000,
        500,
        frequencies.map((each) => [each, loud] as const),
      );
      expect(digitsIn(8000, sound), frequencies.join('+')).to.equal('');
    }
    const chord = [262, 330, 392, 523, 697, 784, 1047, 1209].map((each) => [each, loud / 2] as const);
    expect(digitsIn(8000, tones(8000, 2000, chord))).to.equal('');
    let seed = 1;
    const noise = Int16Array.from({ length: 80_000 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return (seed / 2_147_483_648 - 0.5) * 20_000;
    });
    expect(digitsIn(8000, noise)).to.equal('');
  });

  it('a tone that sweeps through all frequencies is no key', () => {
    const sweep = Int16Array.from(
      { length: 40_000 },
      (_, at) => 8000 * Math.sin(2 * Math.PI * (300 + at / 40) * (at / 8000)),
    );
    expect(digitsIn(8000, sweep)).to.equal('');
  });

  it('speech is no key', function () {
    if (findProgram('espeak-ng') === undefined) this.skip();
    const text =
      'Eenie meenie minie mo. Please choose one of the five hundred and seventy seven options, and be quick. '.repeat(
        8,
      );
    for (const voice of ['en', 'en+f3', 'de']) {
      const { stdout } = spawnSync('espeak-ng', ['-v', voice, '--stdout', text], { maxBuffer: 64 * 1_048_576 });
      const speech = readWav(stdout);
      expect(speech.length, 'samples').to.be.above(8000 * 20);
      expect(digitsIn(8000, speech), voice).to.equal('');
    }
  });
});
