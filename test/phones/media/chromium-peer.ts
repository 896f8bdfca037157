/** The far end of a call in Chromium: plays a tone, and says which of two tones it hears. */
import type { Browser, Page } from 'puppeteer-core';

const PAGE = `
  const audio = new AudioContext();
  const oscillator = audio.createOscillator();
  const out = audio.createMediaStreamDestination();
  oscillator.connect(out);
  oscillator.start();
  const connection = new RTCPeerConnection();
  connection.addTrack(out.stream.getAudioTracks()[0], out.stream);
  const analyser = audio.createAnalyser();
  analyser.fftSize = 8192;
  connection.ontrack = ({ track }) => {
    const stream = new MediaStream([track]);
    const element = new Audio();
    element.srcObject = stream;
    element.muted = true;
    element.play();
    audio.createMediaStreamSource(stream).connect(analyser);
  };
  const complete = () => new Promise((resolve) => {
    const check = () => connection.iceGatheringState === 'complete' && resolve(connection.localDescription.sdp);
    connection.onicegatheringstatechange = check;
    check();
  });
  const level = (frequency) => {
    const bins = new Float32Array(analyser.frequencyBinCount);
    analyser.getFloatFrequencyData(bins);
    return bins[Math.round((frequency * analyser.fftSize) / audio.sampleRate)];
  };
  globalThis.peer = {
    connection,
    play: (frequency) => { oscillator.frequency.value = frequency; },
    offer: async () => { await connection.setLocalDescription(await connection.createOffer()); return complete(); },
    takeAnswer: (sdp) => connection.setRemoteDescription({ type: 'answer', sdp }),
    answer: async (sdp) => {
      await connection.setRemoteDescription({ type: 'offer', sdp });
      await connection.setLocalDescription(await connection.createAnswer());
      return complete();
    },
    hears: (frequency, other, withinMs) => new Promise((resolve) => {
      const end = performance.now() + withinMs;
      const look = () => {
        const heard = level(frequency) > -60 && level(frequency) > level(other) + 20;
        if (heard || performance.now() > end) resolve(heard ? 'heard' : connection.connectionState + ' ' + level(frequency));
        else setTimeout(look, 50);
      };
      look();
    }),
  };
`;

export class ChromiumPeer {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async open(chromium: Browser): Promise<ChromiumPeer> {
    const page = await chromium.newPage();
    await page.evaluate(`(() => { ${PAGE} })()`);
    return new ChromiumPeer(page);
  }

  async offer(): Promise<string> {
    return String(await this.#page.evaluate('peer.offer()'));
  }

  async takeAnswer(sdp: string): Promise<void> {
    await this.#page.evaluate(`peer.takeAnswer(${JSON.stringify(sdp)})`);
  }

  async answer(sdp: string): Promise<string> {
    return String(await this.#page.evaluate(`peer.answer(${JSON.stringify(sdp)})`));
  }

  play(frequency: number): void {
    void this.#page.evaluate(`peer.play(${frequency})`);
  }

  /** @throws Error when the tone is not heard, clearly louder than 440 Hz above it */
  async hears(frequency: number): Promise<void> {
    const heard = await this.#page.evaluate(`peer.hears(${frequency}, ${frequency + 300}, 20000)`);
    if (heard !== 'heard') throw new Error(`${frequency} Hz not heard: ${String(heard)}`);
  }

  /** Closes its RTCPeerConnection. */
  async disconnect(): Promise<void> {
    await this.#page.evaluate('peer.connection.close()');
  }

  async close(): Promise<void> {
    await this.#page.close();
  }
}
