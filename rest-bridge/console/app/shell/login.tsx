/** The login: as the first page, and in a dialog above a page whose session has ended. */
import { useSignal } from '@preact/signals';
import { ApiError } from '../lib/api.ts';
import { kept, keep } from '../lib/kept.ts';
import { type Credentials, logIn, session } from '../lib/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { problemText } from '../parts/problem.tsx';
import { words } from '../words/shell.ts';
import { LanguageChoice } from './language.tsx';

/** The domain of the demo accounts; empty on a node without them. */
const DEMO = document.querySelector<HTMLMetaElement>('meta[name=demo]')?.content ?? '';
const DEMO_LOGINS = ['admin', 'alice', 'bob', 'carol', 'dave'];

export function LoginPage() {
  return (
    <main class="login">
      <div class="brand">
        <img src="/phone/icon.svg" alt="" width={36} height={36} />
        <h1>{words('loginTitle')}</h1>
      </div>
      <LoginForm />
      <nav class="links" aria-label="Ringmaster">
        <a href="/phone">{words('phone')}</a>
        <a href="/docs/operating/README.md">{words('documentation')}</a>
        <a href="/rest/v1/docs">{words('api')}</a>
        <LanguageChoice />
      </nav>
    </main>
  );
}

/** It cannot be closed: the page behind it needs the session. */
export function LoginDialog() {
  return (
    <Dialog title={words('ended')}>
      <p>{words('endedHelp')}</p>
      <LoginForm />
    </Dialog>
  );
}

function LoginForm() {
  const before = session.value;
  const typed = useSignal<Credentials>({
    domain: before?.domain ?? kept('domain') ?? DEMO,
    login: before?.login ?? kept('login') ?? '',
    pwd: '',
  });
  const problem = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);

  const enter = async (credentials: Credentials): Promise<void> => {
    busy.value = true;
    problem.value = undefined;
    try {
      await logIn(credentials);
      keep('domain', credentials.domain);
      keep('login', credentials.login);
    } catch (error) {
      const isWrong = error instanceof ApiError && error.status === 401;
      problem.value = isWrong ? words('wrongCredentials') : problemText(error);
    } finally {
      busy.value = false;
    }
  };
  const input = (field: keyof Credentials) => (event: Event) => {
    typed.value = { ...typed.value, [field]: (event.currentTarget as HTMLInputElement).value };
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void enter(typed.value);
      }}
    >
      <Field label={words('domain')}>
        {(ids) => (
          <input {...ids} value={typed.value.domain} onInput={input('domain')} required autocomplete="organization" />
        )}
      </Field>
      <Field label={words('login')}>
        {(ids) => (
          <input
            {...ids}
            value={typed.value.login}
            onInput={input('login')}
            required
            autocomplete="username"
            autocapitalize="off"
          />
        )}
      </Field>
      <Field label={words('password')} mistake={problem.value}>
        {(ids) => (
          <input
            {...ids}
            type="password"
            value={typed.value.pwd}
            onInput={input('pwd')}
            required
            autocomplete="current-password"
          />
        )}
      </Field>
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy.value}>
          {words('logIn')}
        </button>
      </div>
      {DEMO !== '' && before === undefined && (
        <fieldset class="demo">
          <legend>{words('demo')}</legend>
          {DEMO_LOGINS.map((login) => (
            <button
              key={login}
              type="button"
              disabled={busy.value}
              onClick={() => void enter({ domain: DEMO, login, pwd: `demo-${login}` })}
            >
              {login}
            </button>
          ))}
        </fieldset>
      )}
    </form>
  );
}
