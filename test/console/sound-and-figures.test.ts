import { expect } from 'chai';
import { bucketsBetween, parseMetrics, quantile, total } from '../../rest-bridge/console/app/lib/prometheus.ts';
import { bodyOf, fieldsOf } from '../../rest-bridge/console/app/parts/schema-fields.ts';
import { shapeOfWav } from '../../rest-bridge/console/app/parts/wav.ts';
import { toneFile } from '../phones/media/tone-file.ts';

describe('what the console computes', () => {
  const metrics = (fast: number, slow: number): ReturnType<typeof parseMetrics> =>
    parseMetrics(
      `# TYPE setup histogram
setup_bucket{le="0.1",domain="a"} ${fast}
setup_bucket{le="1",domain="a"} ${fast + slow}
setup_bucket{le="+Inf",domain="a"} ${fast + slow}
setup_bucket{le="0.1",domain="b\\"}"} ${fast}
setup_bucket{le="1",domain="b\\"}"} ${fast + slow}
setup_bucket{le="+Inf",domain="b\\"}"} ${fast + slow}
alive{kind="dialogs"} 3
alive{kind="rooms"} 4
`,
    );

  it('percentiles come from what histograms counted in between, over all domains', () => {
    const buckets = bucketsBetween(metrics(1000, 0), metrics(1010, 10), 'setup');
    expect(buckets).to.deep.equal([
      [0.1, 20],
      [1, 40],
      [Infinity, 40],
    ]);
    expect(quantile(buckets, 0.5)).to.be.closeTo(0.1, 1e-9);
    expect(quantile(buckets, 0.75)).to.be.closeTo(0.55, 1e-9);
    expect(quantile(bucketsBetween(metrics(1, 1), metrics(1, 1), 'setup'), 0.5)).to.equal(null);
    expect(total(metrics(0, 0), 'alive', { kind: 'dialogs' })).to.equal(3);
  });

  it('a waveform has the loudness of each channel, and of no other kind of file', () => {
    const file = toneFile(440, 2);
    const whole = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer;
    const shape = shapeOfWav(whole, 100);
    expect(shape?.seconds).to.be.closeTo(2, 0.01);
    expect(shape?.peaks).to.have.length(1);
    expect(Math.min(...(shape?.peaks[0] ?? []))).to.be.above(0.05);
    expect(shapeOfWav(new TextEncoder().encode('OggS'.repeat(20)).buffer, 100)).to.equal(undefined);
    expect(shapeOfWav(whole.slice(0, 20), 100)).to.equal(undefined);
  });

  it('a form leaves out empty fields, names missing ones, and takes one label or several', () => {
    const fields = fieldsOf({
      properties: {
        label: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
        timeout: { type: 'integer' },
        hold: { type: 'boolean' },
        command: { enum: ['add', 'remove'] },
        opts: { type: 'object' },
      },
      required: ['command'],
    });
    expect(fields.map(({ name, kind }) => `${name} ${kind}`)).to.deep.equal([
      'command choice',
      'label list',
      'timeout number',
      'hold flag',
      'opts json',
    ]);
    expect(bodyOf(fields, {}).mistakes).to.deep.equal({ command: 'missing' });
    expect(bodyOf(fields, { command: 'add', label: 'a', hold: 'false', timeout: '5' })).to.deep.equal({
      body: { command: 'add', label: 'a', hold: false, timeout: 5 },
      mistakes: {},
    });
    expect(bodyOf(fields, { command: 'add', label: 'a\nb', timeout: 'x', opts: '{' })).to.deep.equal({
      body: { command: 'add', label: ['a', 'b'] },
      mistakes: { timeout: 'notNumber', opts: 'notJson' },
    });
  });
});
