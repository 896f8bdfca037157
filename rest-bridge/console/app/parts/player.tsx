/** Plays a WAV file, with the waveform of each channel. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../lib/api.ts';
import { words } from '../words/recordings.ts';
import { Problem } from './problem.tsx';
import { type Shape, shapeOfWav } from './wav.ts';
import { Waveform } from './waveform.tsx';

/** Pixels of a waveform. */
const SLICES = 600;

export interface PlayerProps {
  /** Path of the WAV file below `/rest/v1`. */
  readonly file: string;
  /** Of the downloaded file. */
  readonly name: string;
  /** Names of the channels. */
  readonly sides: readonly string[];
  readonly onPlay?: () => void;
}

export function Player({ file, name, sides, onPlay }: PlayerProps) {
  const source = useSignal<string | undefined>(undefined);
  const shape = useSignal<Shape | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const at = useSignal(0);
  const audio = useSignal<HTMLAudioElement | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      const blob = await (await call('GET', file, { signal: abort.signal })).blob();
      shape.value = shapeOfWav(await blob.arrayBuffer(), SLICES);
      source.value = URL.createObjectURL(blob);
    };
    load().catch((error: unknown) => {
      if (!abort.signal.aborted) problem.value = error;
    });
    return () => {
      abort.abort();
      if (source.value !== undefined) URL.revokeObjectURL(source.value);
    };
  }, [file]);
  if (problem.value !== undefined) return <Problem error={problem.value} />;
  if (source.value === undefined) return <p class="quiet">…</p>;
  const seconds = shape.value?.seconds ?? 0;
  return (
    <>
      {shape.value !== undefined && (
        <Waveform
          shape={shape.value}
          sides={sides}
          at={seconds === 0 ? 0 : at.value / seconds}
          onSeek={(share) => {
            if (audio.value !== null) audio.value.currentTime = share * seconds;
          }}
        />
      )}
      {/* oxlint-disable-next-line jsx_a11y/media-has-caption -- transcripts are not captions, and are shown by the history */}
      <audio
        ref={(element) => {
          audio.value = element;
        }}
        controls
        autoplay
        src={source.value}
        onPlay={onPlay}
        aria-label={words('player')}
        onTimeUpdate={({ currentTarget }) => {
          at.value = currentTarget.currentTime;
        }}
      />
      <a class="button" href={source.value} download={name}>
        {words('download')}
      </a>
    </>
  );
}
