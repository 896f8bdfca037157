import { spawnSync } from 'node:child_process';

const RATE = 8000;

/** Words that a telephone line does not make like each other, for a small grammar. */
export const WORDS = ['yes', 'operator', 'tomorrow', 'weather'] as const;

/** Whether the peers that speak and understand are on this machine; without them, and required, a test fails. */
export function speechPeers(): boolean {
  const found = ['espeak-ng', 'pocketsphinx_continuous'].every(
    (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0,
  );
  if (!found && process.env['RINGMASTER_REQUIRE_PEERS'] === '1')
    throw new Error('espeak-ng, pocketsphinx and pocketsphinx-en-us are required');
  return found;
}

/** A text spoken by espeak-ng, 8 kHz linear, with silence before and after. */
export function spoken(text: string, padMs = { before: 300, after: 1200 }): Int16Array {
  const { stdout, status } = spawnSync('espeak-ng', ['-v', 'en-us', '-s', '130', '--stdout', text], {
    maxBuffer: 16 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`espeak-ng ended with ${status}`);
  const rate = stdout.readUInt32LE(24);
  const start = stdout.indexOf('data', 12, 'latin1') + 8;
  const source = Array.from({ length: (stdout.length - start) >> 1 }, (_, at) => stdout.readInt16LE(start + at * 2));
  return padded(downsampled(source, rate), padMs);
}

/** To 8 kHz, by the mean of what a sample stands for: enough for speech. */
function downsampled(source: readonly number[], rate: number): Int16Array {
  const step = rate / RATE;
  return Int16Array.from({ length: Math.floor(source.length / step) }, (_, index) => {
    const part = source.slice(
      Math.floor(index * step),
      Math.max(Math.floor(index * step) + 1, Math.floor((index + 1) * step)),
    );
    return Math.round(part.reduce((sum, sample) => sum + sample, 0) / part.length);
  });
}

function padded(samples: Int16Array, { before, after }: { before: number; after: number }): Int16Array {
  const lead = (before * RATE) / 1000;
  const whole = new Int16Array(lead + samples.length + (after * RATE) / 1000);
  whole.set(samples, lead);
  return whole;
}
