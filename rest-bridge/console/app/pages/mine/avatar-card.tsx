/** The person's picture. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, call } from '../../lib/api.ts';
import { Problem } from '../../parts/problem.tsx';
import { Field } from '../../parts/field.tsx';
import { words } from '../../words/mine.ts';

const PATH = '/user/avatar';

export function AvatarCard() {
  const source = useSignal<string | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const show = (picture: string | undefined): void => {
    if (source.value !== undefined) URL.revokeObjectURL(source.value);
    source.value = picture;
  };
  const run = async (change?: () => Promise<unknown>): Promise<void> => {
    problem.value = undefined;
    try {
      await change?.();
      show(URL.createObjectURL(await (await call('GET', PATH)).blob()));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) show(undefined);
      else problem.value = error;
    }
  };
  useEffect(() => {
    void run();
    return () => show(undefined);
  }, []);
  const put = (file: File): Promise<void> =>
    run(() => {
      const body = new FormData();
      body.append('file', file);
      return call('PUT', PATH, { body });
    });
  return (
    <section class="card">
      <h2>{words('picture')}</h2>
      {source.value === undefined ? (
        <p class="quiet">{words('noPicture')}</p>
      ) : (
        <img class="avatar" src={source.value} alt={words('picture')} />
      )}
      <Field label={words('choosePicture')} hint={words('pictureSize')}>
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept="image/*"
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              if (file !== undefined) void put(file);
              // The same file may be chosen again after a mistake.
              currentTarget.value = '';
            }}
          />
        )}
      </Field>
      <Problem error={problem.value} />
      {source.value !== undefined && (
        <div class="buttons">
          <button type="button" onClick={() => void run(() => call('DELETE', PATH))}>
            {words('removePicture')}
          </button>
        </div>
      )}
    </section>
  );
}
