/** Calls with sound beside a load: dave calls carol, who rings and answers at once. */
import { setTimeout as delay } from 'node:timers/promises';
import { Phone } from '../../phones/phone.ts';

const DOMAIN = 'demo.local';
/** Milliseconds from the first sound to BYE. */
const TALK_MS = 100;
const SOUND_WITHIN_MS = 5000;

export class SoundCalls {
  readonly #dave: Phone;
  readonly #carol: Phone;

  private constructor(dave: Phone, carol: Phone) {
    this.#dave = dave;
    this.#carol = carol;
  }

  /** @param registrar `ip:port`; left out, the phones are not registered */
  static async open(registrar?: string): Promise<SoundCalls> {
    const [dave, carol] = await Promise.all(
      ['dave', 'carol'].map((login) =>
        Phone.start({
          login,
          domain: DOMAIN,
          password: `demo-${login}`,
          codecs: ['PCMU'],
          ...(registrar === undefined ? {} : { registrar }),
        }),
      ),
    );
    if (dave === undefined || carol === undefined) throw new Error('there are two phones');
    if (registrar !== undefined) await Promise.all([dave.register(), carol.register()]);
    return new SoundCalls(dave, carol);
  }

  /** Carol's contact, for a server that she cannot register with. */
  get contact(): string {
    return this.#carol.contact;
  }

  /**
   * Makes calls at an even pace.
   * @param server `ip:port`
   * @returns milliseconds from INVITE to the first packet of carol's voice at dave's phone, of each call that had one
   */
  async call(server: string, calls: number, rate: number): Promise<number[]> {
    const answered = Array.from({ length: calls }, () => this.#answer((calls / rate) * 1000 + SOUND_WITHIN_MS));
    const began = performance.now();
    const heard: Promise<number | undefined>[] = [];
    for (let call = 0; call < calls; call += 1) {
      await delay(Math.max(0, began + (call * 1000) / rate - performance.now()));
      heard.push(this.#listen(`sip:103@${server}`));
    }
    const times = await Promise.all(heard);
    await Promise.all(answered);
    return times.filter((time) => time !== undefined);
  }

  /** Ends both without a message to a server that may be gone. */
  async close(): Promise<void> {
    await Promise.all([this.#dave, this.#carol].map((phone) => phone.stop({ abruptly: true })));
  }

  async #listen(target: string): Promise<number | undefined> {
    const call = await this.#dave.call(target);
    const sent = performance.now();
    try {
      const heard = await call.session.rtp.firstSound.wait(SOUND_WITHIN_MS);
      await delay(TALK_MS);
      return heard - sent;
    } catch {
      // Refused, or no sound in time: the number of times shows it.
      return undefined;
    } finally {
      await call.hangup().catch(() => call.abandon());
    }
  }

  async #answer(withinMs: number): Promise<void> {
    try {
      const call = await this.#carol.incoming(withinMs);
      call.play(440);
      call.ring();
      await call.answer();
    } catch {
      // The call did not arrive, or ended before its ACK.
    }
  }
}
