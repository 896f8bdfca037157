/** Digits as tones (ITU-T Q.23): their sound, and a simple ear for them. */
import { amplitudeAt, SAMPLE_RATE } from './tone.ts';

const KEYS = '123A456B789C*0#D';
const LOW = [697, 770, 852, 941];
const HIGH = [1209, 1336, 1477, 1633];
/** Smallest amplitude of a tone that counts. */
const AUDIBLE = 1000;

/** The sound of these keys, 8 kHz linear: some -12 dBm0 for each tone. */
export function keySound(keys: string, { onMs = 80, offMs = 80 } = {}): Int16Array {
  const [on, off] = [onMs, offMs].map((each) => (SAMPLE_RATE * each) / 1000) as [number, number];
  const sound = new Int16Array(keys.length * (on + off));
  for (const [place, name] of Array.from(keys).entries()) {
    const key = KEYS.indexOf(name);
    for (let at = 0; at < on; at += 1) {
      const wave = (frequency: number): number => Math.sin((2 * Math.PI * frequency * at) / SAMPLE_RATE);
      const both = wave(LOW[key >> 2] as number) + wave(HIGH[key & 3] as number);
      sound[place * (on + off) + at] = Math.round(8000 * both);
    }
  }
  return sound;
}

/** Writes down the keys in a stream of packets of 20 ms. */
export class KeyEar {
  keys = '';
  #last = '';
  #packets = 0;

  hear(packet: Int16Array): void {
    const key = keyIn(packet);
    this.#packets = key === this.#last ? this.#packets + 1 : 1;
    this.#last = key;
    if (this.#packets === 2) this.keys += key;
  }
}

function keyIn(packet: Int16Array): string {
  const [low, high] = [LOW, HIGH].map((group) => {
    const amplitudes = group.map((frequency) => amplitudeAt(packet, frequency));
    const most = Math.max(...amplitudes);
    return most < AUDIBLE ? -1 : amplitudes.indexOf(most);
  }) as [number, number];
  return low < 0 || high < 0 ? '' : (KEYS[low * 4 + high] as string);
}
