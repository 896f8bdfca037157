/** The recordings of a call, each with a player and the waveform of both sides. */
import { useSignal } from '@preact/signals';
import { ApiError, read } from '../lib/api.ts';
import { duration, moment } from '../lib/format.ts';
import { useLive } from '../lib/use-live.ts';
import { words } from '../words/recordings.ts';
import { Player } from './player.tsx';
import { Problem } from './problem.tsx';

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
          <Player file={`${PATH}/${encodeURIComponent(id)}/file`} name={`${id}.wav`} sides={sides} />
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
