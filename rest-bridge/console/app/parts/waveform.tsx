/** The loudness of each side over time. A click goes to that place; with keys the player does. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { words } from '../words/recordings.ts';
import type { Shape } from './wav.ts';

export interface WaveformProps {
  readonly shape: Shape;
  /** Names of the channels. */
  readonly sides: readonly string[];
  /** Played share, 0 to 1. */
  readonly at: number;
  readonly onSeek: (share: number) => void;
}

const HEIGHT = 44;

export function Waveform({ shape, sides, at, onSeek }: WaveformProps) {
  return (
    <div
      class="waveform"
      onClick={({ currentTarget, clientX }) => {
        const { left, width } = currentTarget.getBoundingClientRect();
        onSeek((clientX - left) / width);
      }}
    >
      {shape.peaks.map((peaks, channel) => (
        <Channel
          key={channel}
          peaks={peaks}
          label={words('side', { name: sides[channel] ?? String(channel + 1) })}
          color={channel === 0 ? '--line-1' : '--line-2'}
        />
      ))}
      <span class="played" style={{ left: `${at * 100}%` }} />
    </div>
  );
}

interface ChannelProps {
  readonly peaks: Float32Array;
  readonly label: string;
  /** Of the styles. */
  readonly color: string;
}

function Channel({ peaks, label, color }: ChannelProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (element === null || context === null || context === undefined) return;
    context.clearRect(0, 0, peaks.length, HEIGHT);
    // A custom property holds both schemes; a colour has the present one.
    context.fillStyle = getComputedStyle(element).color;
    peaks.forEach((peak, x) => {
      // Quiet voices are seen too.
      const height = Math.max(1, Math.sqrt(peak) * HEIGHT);
      context.fillRect(x, (HEIGHT - height) / 2, 1, height);
    });
  }, [peaks]);
  return (
    <figure>
      <figcaption>{label}</figcaption>
      <canvas
        ref={canvas}
        width={peaks.length}
        height={HEIGHT}
        style={{ color: `var(${color})` }}
        role="img"
        aria-label={label}
      />
    </figure>
  );
}
