/** The recordings of a call, each with a player and the waveform of both sides. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, call, read } from '../lib/api.ts';
import { duration, moment } from '../lib/format.ts';
import { useLive } from '../lib/use-live.ts';
import { words } from '../words/recordings.ts';
import { Problem } from './problem.tsx';
import { type Shape, shapeOfWav } from './wav.ts';
import { Waveform } from './waveform.tsx';

interface Recording {
  readonly id: string;
  readonly layer: string;
  readonly status: 'recording' | 'saved' | 'failed';
  readonly reason?: string | null;
  readonly startts: number;
  /** Milliseconds of sound. */
  readonly length?: number | null;
  readonly parties: readonly { readonly channel?: number; readonly number: string; readonly login: string }[];
}

const PATH = '/domain/recordings';

/** @param filter of the archive; the card is not there for people who may not read it */
export function RecordingsCard({ filter }: { readonly filter: object }) {
  const recordings = useLive(() => read<Recording[]>(PATH, { filter }), JSON.stringify(filter), {
    events: ['callevents.record_saved', 'callevents.record_failed'],
    filter,
  });
  if (recordings.problem instanceof ApiError && recordings.problem.status === 403) return null;
  return (
    <section class="card">
      <h2>{words('title')}</h2>
      <Problem error={recordings.problem} retry={recordings.reload} />
      {recordings.data?.length === 0 && <p class="quiet">{words('none')}</p>}
      {recordings.data?.map((recording) => (
        <RecordingRow key={recording.id} recording={recording} />
      ))}
    </section>
  );
}

function RecordingRow({ recording }: { readonly recording: Recording }) {
  const { id, layer, status, reason, startts, length, parties } = recording;
  const open = useSignal(false);
  const sides = parties
    .toSorted((a, b) => (a.channel ?? 0) - (b.channel ?? 0))
    .map((each) => each.number || each.login);
  return (
    <article class="recording">
      <p>
        {moment(startts)} {length !== undefined && length !== null && <span class="quiet">{duration(length)}</span>}{' '}
        {layer !== '' && <span class="badge">{layer}</span>}{' '}
        <span class={`badge ${{ recording: 'warn', saved: 'good', failed: 'bad' }[status]}`}>{words(status)}</span>
        {reason !== null && reason !== undefined && <span class="mistake"> {reason}</span>}
      </p>
      {status === 'saved' &&
        (open.value ? (
          <Player id={id} sides={sides} />
        ) : (
          <button
            type="button"
            onClick={() => {
              open.value = true;
            }}
          >
            ▶ {words('listen')}
          </button>
        ))}
    </article>
  );
}

/** Pixels of a waveform. */
const SLICES = 600;

function Player({ id, sides }: { readonly id: string; readonly sides: readonly string[] }) {
  const source = useSignal<string | undefined>(undefined);
  const shape = useSignal<Shape | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const at = useSignal(0);
  const audio = useSignal<HTMLAudioElement | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      const path = `${PATH}/${encodeURIComponent(id)}/file`;
      const blob = await (await call('GET', path, { signal: abort.signal })).blob();
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
  }, [id]);
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
        aria-label={words('player')}
        onTimeUpdate={({ currentTarget }) => {
          at.value = currentTarget.currentTime;
        }}
      />
      <a class="button" href={source.value} download={`${id}.wav`}>
        {words('download')}
      </a>
    </>
  );
}
