import { expect } from 'chai';
import { FrameError, FrameReader, encodeFrame } from '../../runtime/sandbox/frame.ts';

describe('sandbox: frames', () => {
  const frames = [
    { header: { n: 1 }, body: '' },
    { header: { n: 2 }, body: 'grüße €' },
    { header: { n: 3 }, body: 'x'.repeat(5000) },
  ];
  const bytes = Buffer.concat(frames.map(({ header, body }) => encodeFrame(header, body)));

  for (const size of [1, 7, 4096, bytes.length]) {
    it(`are read from chunks of ${size} bytes`, () => {
      const reader = new FrameReader<object>(10_000);
      const read = [];
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.subarray(at, at + size));
        for (let frame = reader.next(); frame; frame = reader.next()) read.push(frame);
      }
      expect(read).to.deep.equal(frames);
    });
  }

  it('are refused when too long or invalid', () => {
    const long = new FrameReader(100);
    long.push(encodeFrame({}, 'x'.repeat(200)));
    expect(() => long.next()).to.throw(FrameError, 'too long');
    const header = new FrameReader(100);
    header.push(Buffer.from([0, 0, 0, 6, 0, 0, 0, 9, 1, 2]));
    expect(() => header.next()).to.throw(FrameError, 'longer than its frame');
    const json = new FrameReader(100);
    json.push(Buffer.from([0, 0, 0, 6, 0, 0, 0, 2, 1, 2]));
    expect(() => json.next()).to.throw(FrameError, 'not JSON');
  });
});
