import { expect } from 'chai';
import { Limiter } from '../../../runtime/embedded/media/conference/limiter.ts';
import { type MixedMember, Mixer } from '../../../runtime/embedded/media/conference/mixer.ts';
import { parseEntry } from '../../../runtime/embedded/media/conference/entry.ts';
import { Relations } from '../../../runtime/embedded/media/conference/relations.ts';
import { TalkDetector } from '../../../runtime/embedded/media/conference/talk-detector.ts';

function member(id: number, level: number): MixedMember {
  const input = Int16Array.from({ length: 160 }, (_, index) =>
    Math.round(level * Math.sin((2 * Math.PI * index * (id + 1)) / 160)),
  );
  return { id, input, sound: undefined, output: new Int16Array(160), deaf: false, limiter: new Limiter() };
}

describe('embedded media server: mixing', () => {
  it('mixes 30 loud members without clipping, and without their own voice', () => {
    const members = Array.from({ length: 30 }, (_, index) => member(index, 20_000));
    const mixer = new Mixer();
    for (let frame = 0; frame < 5; frame += 1) mixer.mix(members, new Relations(), undefined);
    for (const { output, id } of members) {
      expect(Math.max(...output.map(Math.abs))).to.be.within(20_000, 31_000);
      const own =
        output.reduce((sum, sample, index) => sum + sample * Math.sin((2 * Math.PI * index * (id + 1)) / 160), 0) / 80;
      const other =
        output.reduce(
          (sum, sample, index) => sum + sample * Math.sin((2 * Math.PI * index * (((id + 1) % 30) + 1)) / 160),
          0,
        ) / 80;
      expect(Math.abs(own)).to.be.below(Math.abs(other) / 10);
    }
  });

  it('leaves quiet voices as they are and returns to full gain after a loud moment', () => {
    const limiter = new Limiter();
    const target = new Int16Array(160);
    limiter.apply(new Int32Array(160).fill(1000), target);
    expect(target[0]).to.equal(1000);
    limiter.apply(new Int32Array(160).fill(310_000), target);
    expect(target[0]).to.be.within(30_990, 31_000);
    for (let frame = 0; frame < 200; frame += 1) limiter.apply(new Int32Array(160).fill(1000), target);
    expect(limiter.gain).to.equal(1);
  });

  it('switches the hearing of each ordered pair', () => {
    const relations = new Relations();
    relations.set(1, 2, { nospeak: true, nohear: false });
    expect([relations.blocks(2, 1), relations.blocks(1, 2)]).to.deep.equal([true, false]);
    relations.set(1, 2, { nospeak: false, nohear: true }); // replaces
    expect([relations.blocks(2, 1), relations.blocks(1, 2)]).to.deep.equal([false, true]);
    relations.set(2, 1, { nospeak: true, nohear: false }); // the same hearing, blocked from the other side too
    relations.clear(1, 2);
    expect(relations.blocks(1, 2)).to.equal(true);
    relations.forget(1);
    expect(relations.empty).to.equal(true);
  });

  it('recognises a talking member after a moment, and its silence after a longer one', () => {
    const weak = new TalkDetector();
    const frames = Array.from({ length: 7 }, () => weak.frame(450, 100));
    expect(frames.indexOf('started')).to.equal(4);
    const quiet = Array.from({ length: 60 }, () => weak.frame(0, 100));
    expect(quiet.indexOf('stopped')).to.equal(39);
    const loud = new TalkDetector();
    expect(loud.frame(500, 100)).to.equal('started');
    expect(loud.frame(700, 100)).to.equal(undefined);
    const gone = Array.from({ length: 60 }, () => loud.frame(undefined, 100));
    expect(gone.indexOf('stopped')).to.equal(39);
    expect(loud.figures).to.deep.include({ frames: 1, loudFrames: 1, averageEnergy: 700, averageChange: 200 });
  });

  it('reads every form of the conference argument', () => {
    expect(parseEntry('room1')).to.deep.equal({ name: 'room1', profile: 'default', pin: '', flags: new Set() });
    expect(parseEntry('room9@waitmod++flags{moderator|endconf}')).to.deep.equal({
      name: 'room9',
      profile: 'waitmod',
      pin: '',
      flags: new Set(['moderator', 'endconf']),
    });
    expect(parseEntry('r+1234+flags{mute}')).to.deep.include({ name: 'r', pin: '1234' });
    expect(parseEntry('r+1234')).to.deep.include({ name: 'r', pin: '1234' });
    expect(parseEntry('')).to.equal(undefined);
  });
});
