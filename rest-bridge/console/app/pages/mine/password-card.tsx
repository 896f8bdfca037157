/** Changes the person's password. */
import { batch, useSignal } from '@preact/signals';
import { ApiError, send } from '../../lib/api.ts';
import { session } from '../../lib/session.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from '../../words/mine.ts';

const EMPTY = { old_pwd: '', pwd: '', again: '' };
type Name = keyof typeof EMPTY;
const FIELDS: readonly [Name, 'oldPassword' | 'newPassword' | 'again', string][] = [
  ['old_pwd', 'oldPassword', 'current-password'],
  ['pwd', 'newPassword', 'new-password'],
  ['again', 'again', 'new-password'],
];

export function PasswordCard() {
  const typed = useSignal(EMPTY);
  const mistakes = useSignal<Partial<Record<string, string>>>({});
  const problem = useSignal<unknown>(undefined);
  const busy = useSignal(false);
  const change = async (): Promise<void> => {
    const { old_pwd, pwd, again } = typed.value;
    problem.value = undefined;
    mistakes.value = pwd === again ? {} : { again: words('differs') };
    if (pwd !== again) return;
    busy.value = true;
    try {
      await send('PUT', '/user/password', { old_pwd, pwd });
      typed.value = EMPTY;
      toast(words('changed'));
    } catch (error) {
      const field = error instanceof ApiError ? error.field : undefined;
      batch(() => {
        if (field !== undefined && field in EMPTY && error instanceof ApiError)
          mistakes.value = { [field]: error.status === 403 ? words('wrong') : (error.reason ?? error.message) };
        else problem.value = error;
      });
    } finally {
      busy.value = false;
    }
  };
  return (
    <section class="card">
      <h2>{words('password')}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change();
        }}
      >
        {/* Password managers look for the name of the account. */}
        <input hidden autocomplete="username" value={session.value?.login ?? ''} readOnly />
        {FIELDS.map(([name, label, autocomplete]) => (
          <Field key={name} label={words(label)} mistake={mistakes.value[name]}>
            {(ids) => (
              <input
                {...ids}
                type="password"
                required
                maxLength={1024}
                autocomplete={autocomplete}
                value={typed.value[name]}
                onInput={({ currentTarget }) => {
                  typed.value = { ...typed.value, [name]: currentTarget.value };
                }}
              />
            )}
          </Field>
        ))}
        <p class="hint">{words('endsOthers')}</p>
        <Problem error={problem.value} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy.value}>
            {words('change')}
          </button>
        </div>
      </form>
    </section>
  );
}
