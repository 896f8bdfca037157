/** Calls a number from a room. */
import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { ApiError } from '../../lib/api.ts';
import { problemText } from '../../parts/problem.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from '../../words/conferences.ts';

export interface AddParticipantProps {
  /** @throws ApiError */
  readonly add: (number: string, key: string) => Promise<void>;
}

export function AddParticipant({ add }: AddParticipantProps) {
  const id = useId();
  const number = useSignal('');
  const mistake = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);
  /** Of the request for the number in the field: a repeat after a lost answer rings nobody twice. */
  const key = useRef(crypto.randomUUID());
  const send = async (): Promise<void> => {
    const to = number.value.trim();
    if (to === '' || busy.value) return;
    busy.value = true;
    mistake.value = undefined;
    try {
      await add(to, key.current);
      toast(words('added', { number: to }));
      number.value = '';
      key.current = crypto.randomUUID();
    } catch (error) {
      mistake.value = error instanceof ApiError && error.reason !== undefined ? error.reason : problemText(error);
      // Nothing was begun, so the next try is a new request.
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) key.current = crypto.randomUUID();
    } finally {
      busy.value = false;
    }
  };
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <input
        aria-label={words('addNumber')}
        placeholder={words('addNumber')}
        aria-invalid={mistake.value !== undefined}
        aria-describedby={id}
        maxLength={256}
        autocomplete="off"
        value={number.value}
        disabled={busy.value}
        onInput={({ currentTarget }) => {
          number.value = currentTarget.value;
          key.current = crypto.randomUUID();
        }}
      />
      <button type="submit" disabled={busy.value}>
        {words('add')}
      </button>
      <span id={id} class="mistake" role="status">
        {mistake.value}
      </span>
    </form>
  );
}
