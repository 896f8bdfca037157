import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type Bench, type Endpoint, startBench } from './support/fixture.ts';
import { amplitude, RtpPhone, streamFaults } from './support/rtp-phone.ts';

const MEMBERS = 30;

/** Window over which is listened, and the time until a change has reached everybody. */
const WINDOW_MS = 400;
const SETTLE_MS = 250;

/** A voice that is there has at least this amplitude in the mix of all; one that is not has less than the other. */
const THERE = 250;
const NOT_THERE = 80;

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The tone of each member: all multiples of 100 Hz, so that a window holds whole periods of every one. */
const toneOf = (member: number): number => 300 + member * 100;

describe('embedded media server: a conference of thirty', () => {
  let bench: Bench;
  const phones: RtpPhone[] = [];
  const endpoints: Endpoint[] = [];
  const ids: number[] = [];

  before('everybody joins and speaks', async function joins() {
    this.timeout(20_000);
    bench = await startBench();
    for (let index = 0; index < MEMBERS; index += 1) {
      const phone = await RtpPhone.open(index % 2 === 0 ? 0 : 8);
      phones.push(phone);
      const endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
      endpoints.push(endpoint);
      ids.push((await endpoint.join('thirty')).memberId);
      phone.talk(endpoint.local.sdp, toneOf(index));
    }
  });
  after(async () => {
    for (const endpoint of endpoints) if (endpoint.connected) await bench.ms.api(`uuid_kill ${endpoint.uuid}`);
    await Promise.all(phones.map((phone) => phone.close()));
    await bench.settled();
    await bench.close();
  });

  /** Who hears whom, for every ordered pair; undefined where it cannot be told. */
  async function hearing(): Promise<(boolean | undefined)[][]> {
    await pause(SETTLE_MS);
    const since = performance.now();
    await pause(WINDOW_MS + 40);
    return phones.map((phone) => {
      const samples = phone.samples(since).subarray(0, WINDOW_MS * 8);
      return phones.map((_, speaker) => {
        const level = amplitude(samples, toneOf(speaker));
        return level > THERE ? true : level < NOT_THERE ? false : undefined;
      });
    });
  }

  /** Listens again where a busy machine has stopped the phones. */
  function expectHearing(wanted: (listener: number, speaker: number) => boolean): Promise<unknown> {
    return eventually(async () => expect(unlike(await hearing(), wanted)).to.deep.equal([]));
  }

  function unlike(
    heard: (boolean | undefined)[][],
    wanted: (listener: number, speaker: number) => boolean,
  ): readonly string[] {
    const wrong: string[] = [];
    for (let listener = 0; listener < MEMBERS; listener += 1) {
      for (let speaker = 0; speaker < MEMBERS; speaker += 1) {
        if (heard[listener]?.[speaker] === wanted(listener, speaker)) continue;
        wrong.push(`${listener} hears ${speaker}: ${heard[listener]?.[speaker]}`);
      }
    }
    return wrong;
  }

  it('members hear all others but not themselves, in one stream each', async function hearsAll() {
    this.timeout(20_000);
    await expectHearing((listener, speaker) => listener !== speaker);
    for (const phone of phones) expect(streamFaults(phone.audio(performance.now() - 500))).to.deep.equal([]);
  });

  it('does not clip when the sum of the voices is seven times full scale', async () => {
    await pause(SETTLE_MS);
    const since = performance.now();
    await pause(WINDOW_MS + 40);
    for (const [index, phone] of phones.entries()) {
      const samples = phone.samples(since).subarray(0, WINDOW_MS * 8);
      const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      expect(peak, 'loud').to.be.within(15_000, 31_800);
      // What is between the tones, where clipping would put its harmonics, is next to nothing.
      const between = [450, 1250, 2150, 2950].map((frequency) => amplitude(samples, frequency));
      expect(Math.max(...between), `between the tones at ${index}`).to.be.below(NOT_THERE);
    }
  });

  it('relate separates and reconnects every pair', async function relates() {
    this.timeout(40_000);
    const blocked = (listener: number, speaker: number): boolean => (listener * 7 + speaker * 3) % 5 < 2;
    for (let listener = 0; listener < MEMBERS; listener += 1) {
      const others = ids.filter((_, speaker) => speaker !== listener && blocked(listener, speaker));
      const answer = await bench.ms.api(`conference thirty relate ${ids[listener]} ${others.join(',')} nohear`);
      expect(answer.match(/\+OK/g)).to.have.length(others.length);
    }
    await expectHearing((listener, speaker) => listener !== speaker && !blocked(listener, speaker));
    const everybody = ids.join(',');
    await bench.ms.api(`conference thirty relate ${everybody} ${everybody} clear`);
    await expectHearing((listener, speaker) => listener !== speaker);
    const nospeak = (listener: number, speaker: number): boolean => speaker === 4 && listener % 2 === 0;
    const even = ids.filter((_, listener) => listener % 2 === 0 && listener !== 4).join(',');
    await bench.ms.api(`conference thirty relate ${ids[4]} ${even} nospeak`);
    await expectHearing((listener, speaker) => listener !== speaker && !nospeak(listener, speaker));
    await bench.ms.api(`conference thirty relate ${everybody} ${everybody} clear`);
  });

  it('mute removes and restores voices, while the others continue', async () => {
    await bench.ms.api(`conference thirty mute ${ids[3]}`);
    await expectHearing((listener, speaker) => listener !== speaker && speaker !== 3);
    await bench.ms.api(`conference thirty unmute ${ids[3]}`);
    await expectHearing((listener, speaker) => listener !== speaker);
  });
});
