/** The labels of a live call. */
import { useSignal } from '@preact/signals';
import { send } from '../../lib/api.ts';
import { useLive } from '../../lib/use-live.ts';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/calls.ts';

export function LabelsCard({ id }: { readonly id: string }) {
  const path = `/uc/calls/${encodeURIComponent(id)}!setup_bindings`;
  const labels = useLive(
    async () => (await send<{ labels?: string[] }>('POST', path, { command: 'get' })).labels ?? [],
    id,
  );
  const typed = useSignal('');
  const problem = useSignal<unknown>(undefined);
  const change = async (command: 'add' | 'remove', label: string): Promise<void> => {
    try {
      problem.value = undefined;
      await send('POST', path, { command, label });
      if (command === 'add') typed.value = '';
      labels.reload();
    } catch (error) {
      problem.value = error;
    }
  };
  return (
    <section class="card">
      <h2>{words('labels')}</h2>
      <Problem error={problem.value ?? labels.problem} />
      <ul class="chips">
        {labels.data?.map((label) => (
          <li key={label} class="badge">
            {label}
            <button
              type="button"
              class="quiet"
              aria-label={words('removeLabel', { label })}
              onClick={() => void change('remove', label)}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.value !== '') void change('add', typed.value);
        }}
      >
        <input
          aria-label={words('newLabel')}
          placeholder={words('newLabel')}
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
          }}
        />
        <button type="submit">{words('addLabel')}</button>
      </form>
    </section>
  );
}
