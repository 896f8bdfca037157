import { expect } from 'chai';
import { Ear, verdictOf } from '../../runtime/load/media/ear.ts';
import { PCMA, PCMU } from '../../runtime/load/media/g711.ts';
import { Reception } from '../../runtime/load/media/reception.ts';
import {
  CALLER_TONES,
  type Heard,
  recognise,
  REPLY_TONES,
  tonePayload,
  WAITING_TONE,
} from '../../runtime/load/media/tones.ts';
import type { CallRecord, Failure } from '../../runtime/load/calls/record.ts';
import { reportOf } from '../../runtime/load/report/report.ts';
import type { Outcome } from '../../runtime/load/run.ts';
import { startOf } from '../../runtime/load/plan.ts';
import { escapeHtml, plotSvg } from '../../runtime/load/report/plot.ts';
import { loadOptions } from '../../runtime/cli/load-options.ts';

const NO_SOUND: Failure = { kind: 'no sound', detail: 'the caller hears nothing' };

/** A run of calls a second apart, of one and a half seconds unless they say otherwise. */
function outcomeOf(records: readonly Partial<CallRecord>[], heard: number): Outcome {
  const nothing = { packets: 0, lost: 0, late: 0, jitterMs: 0 };
  const account = { login: 'a', password: 'p' };
  return {
    plan: {
      sip: { host: '127.0.0.1', port: 5060 },
      localHost: '127.0.0.1',
      domain: 'd',
      callers: [account],
      unregistered: false,
      callee: { kind: 'phones', accounts: [account], dial: undefined },
      originate: undefined,
      rate: { from: 1, to: 1 },
      calls: records.length,
      startMs: 60_000,
      live: 10,
      talkMs: 1000,
      ringMs: 0,
      soundEvery: 1,
      allowNetwork: false,
    },
    began: new Date(0),
    ms: 5000,
    records: records.map((more, second) => ({
      startMs: second * 1000,
      isChecked: true,
      answered: 10,
      ended: 1500,
      ...more,
    })),
    unregistered: [],
    heldBack: 0,
    isStopped: false,
    called: { answered: records.length, heard },
    received: { caller: nothing, called: nothing },
    sent: { all: 0, late: 0, worstMs: 0 },
  };
}

describe('the parts of a load', () => {
  it('recognises each tone in both codecs, wherever a packet begins, and nothing in noise or silence', () => {
    for (const frequency of [...CALLER_TONES, ...REPLY_TONES, WAITING_TONE]) {
      for (const type of [PCMU, PCMA]) {
        const payload = tonePayload(frequency, type);
        const cut = Buffer.concat([payload.subarray(37), payload.subarray(0, 37)]);
        for (const packet of [payload, cut]) {
          expect(recognise(packet, type, frequency)).to.equal(frequency);
          expect(recognise(packet, type, 500)).to.equal(frequency);
        }
      }
    }
    const noise = Buffer.from(Array.from({ length: 160 }, (_, n) => (n * 7919 + ((n * n) % 31) * 104729) & 0xff));
    expect(recognise(noise, PCMU, 500)).to.equal('other');
    expect(recognise(Buffer.alloc(160, 0xff), PCMU, 500)).to.equal('silence');
    expect(recognise(Buffer.alloc(160, 0xd5), PCMA, 500)).to.equal('silence');
  });

  it('reports a sound once, after three packets in a row', () => {
    const sounds: [Heard, number][] = [];
    const ear = new Ear(600, (sound, began) => sounds.push([sound, began]));
    let now = 0;
    const hear = (frequency: number, packets: number): void => {
      for (let packet = 0; packet < packets; packet += 1) ear.hear(tonePayload(frequency, PCMU), PCMU, (now += 20));
    };
    hear(WAITING_TONE, 2);
    hear(600, 2);
    expect(sounds).to.deep.equal([]);
    hear(600, 5);
    hear(WAITING_TONE, 3);
    expect(sounds).to.deep.equal([
      [600, 60],
      [WAITING_TONE, 200],
    ]);
  });

  it('tells right, missing, wrong and one-way sound apart', () => {
    expect(verdictOf(new Set(['silence', WAITING_TONE, 600]), 600)).to.equal('right');
    expect(verdictOf(new Set(['silence']), 600)).to.equal('none');
    expect(verdictOf(new Set([WAITING_TONE]), 600)).to.equal('one-way');
    expect(verdictOf(new Set<Heard>(['other']), 600)).to.equal('wrong');
    expect(verdictOf(new Set([800, 600]), 600), 'also the tone of another call').to.equal('wrong');
    expect(verdictOf(new Set<Heard>(['other']), 'any')).to.equal('right');
  });

  it('counts lost, late and repeated packets over the wrap of sequence numbers, and a new SSRC', () => {
    const reception = new Reception();
    const receive = (sequence: number, delay = 0, ssrc = 1): void => {
      const packet = Buffer.alloc(172);
      packet.writeUInt16BE(sequence & 0xffff, 2);
      packet.writeUInt32BE(sequence * 160, 4);
      packet.writeUInt32BE(ssrc, 8);
      reception.receive(packet, sequence * 20 + delay);
    };
    for (const sequence of [65_534, 65_535, 65_537, 65_538]) receive(sequence);
    expect(reception).to.include({ packets: 4, lost: 1, late: 0 });
    receive(65_536, 50);
    expect(reception, 'it came after all').to.include({ packets: 5, lost: 0, late: 1 });
    receive(65_541);
    receive(70_000, 0, 2);
    receive(70_002, 0, 2);
    expect(reception.lost).to.equal(3);
    expect(reception.jitterMs).to.be.within(1, 10);
  });

  it('starts calls evenly, or at a rate that grows or falls evenly', () => {
    const starts = (from: number, to: number, calls: number, startMs = 3_600_000): number[] =>
      Array.from({ length: calls }, (_, index) => Math.round(startOf(index, { rate: { from, to }, calls, startMs })));
    expect(starts(10, 10, 4)).to.deep.equal([0, 100, 200, 300]);
    // 60 calls from 10 to 20 a second take 4 s: 25 of them the first half, 35 the second.
    expect(starts(10, 20, 60)[25]).to.equal(2000);
    expect(starts(20, 10, 60)[35]).to.equal(2000);
    expect(starts(10, 20, 100_000, 4000)[60]).to.equal(4000);
    expect(startOf(100, { rate: { from: 20, to: 1 }, calls: 100_000, startMs: 4000 })).to.equal(Infinity);
  });

  it('counts a call as one-way when the called phone heard the caller, and not the other way round', () => {
    const outcome = outcomeOf([{ isHeard: true }, { failure: NO_SOUND }, { failure: NO_SOUND, ended: 3000 }], 2);
    const report = reportOf(outcome, 2);
    expect(report.failures).to.deep.equal([
      { reason: 'one-way: the caller is heard, and hears nothing', calls: 1 },
      { reason: 'no sound: the caller hears nothing', calls: 1 },
    ]);
    expect(report)
      .to.include({ passed: true, mostLive: 2 })
      .and.deep.include({ sound: { checked: 3, right: 1 } });
    expect(report.rate.achieved).to.equal(1);
    expect(
      report.timeline.map(({ started, answered, failed, live }) => [started, answered, failed, live]),
    ).to.deep.equal([
      [1, 1, 0, 1],
      [1, 1, 0, 2],
      [1, 1, 1, 2],
      [0, 0, 0, 1],
      [0, 0, 1, 1],
    ]);
    expect(reportOf(outcome, 1).passed).to.equal(false);
  });

  it('draws plots without markup of names', () => {
    const svg = plotSvg({
      title: 'a<b',
      xTitle: 's',
      yTitle: 'ms',
      series: [
        {
          name: '"x"',
          points: [
            [0, 1],
            [10, 47],
          ],
        },
      ],
    });
    expect(svg)
      .to.contain('a&#60;b')
      .and.match(/<polyline class="s1" points="56,\S+ 616,\S+"\/>/)
      .and.not.contain('NaN');
    expect(escapeHtml(`<&>"'`)).to.equal('&#60;&#38;&#62;&#34;&#39;');
  });

  it('refuses options beyond the bounds of a load, and those that do not fit together', async () => {
    const refused = async (...args: string[]): Promise<string> => {
      try {
        await loadOptions(args);
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error(`accepted: ${args.join(' ')}`);
    };
    expect(await refused('--calls', '100001')).to.equal('--calls: expected a number from 1 to 100000, found "100001"');
    expect(await refused('--seconds', '3601')).to.contain('at most 3600s');
    expect(await refused('--rate', '1001')).to.contain('at most 1000');
    expect(await refused('--rate', '0')).to.contain('found "0"');
    expect(await refused('--ramp', '10')).to.contain('two numbers such as 10-100');
    expect(await refused('--talk', '100ms')).to.contain('too short to hear');
    expect(await refused('--caller', 'alice')).to.equal('--caller: expected LOGIN:PASSWORD, found "alice"');
    expect(await refused('--originate', '--to', '501')).to.contain('--called');
    expect(await refused('--hear', 'any')).to.contain('--to');
    expect(await refused('--originate', '--api', 'http://192.0.2.1')).to.contain('--allow-network');
  });
});
