/** Tones of the phone: the ring of an incoming call, and the tone while another phone rings. */

/** Seconds of sound and of silence, frequencies in Hz, loudness of 1. */
const TONES = {
  incoming: { on: 1, off: 2, frequencies: [620, 780], gain: 0.2 },
  waiting: { on: 0.2, off: 4, frequencies: [425], gain: 0.06 },
  ringing: { on: 1, off: 4, frequencies: [425], gain: 0.06 },
};

/** @typedef {keyof typeof TONES | 'none'} Tone */

/** Plays one tone at a time. */
export class Sounds {
  /** @type {AudioContext | undefined} */
  #context;
  /** @type {Tone} */
  #tone = 'none';
  /** @type {number | undefined} */
  #timer;
  /** @type {OscillatorNode[]} */
  #playing = [];

  /** Browsers let a page sound after a click: to be called in one. */
  allow() {
    this.#context ??= new AudioContext();
    void this.#context.resume();
  }

  /** @param {Tone} tone until the next one */
  play(tone) {
    if (tone === this.#tone) return;
    this.#tone = tone;
    clearInterval(this.#timer);
    for (const oscillator of this.#playing) oscillator.stop();
    this.#playing = [];
    if (tone === 'none') return;
    const { on, off } = TONES[tone];
    this.#burst(tone);
    this.#timer = setInterval(() => this.#burst(tone), (on + off) * 1000);
  }

  /** @param {keyof typeof TONES} tone */
  #burst(tone) {
    const context = this.#context;
    if (context === undefined) return;
    const { on, frequencies, gain } = TONES[tone];
    const volume = new GainNode(context, { gain });
    volume.connect(context.destination);
    this.#playing = frequencies.map((frequency) => {
      const oscillator = new OscillatorNode(context, { frequency });
      oscillator.connect(volume);
      oscillator.start();
      oscillator.stop(context.currentTime + on);
      return oscillator;
    });
  }
}
