/** The console's start. */
import { effect, useSignal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { listenForKeys } from './lib/keys.ts';
import { allowed, findRights } from './lib/rights.ts';
import { followAddress } from './lib/router.ts';
import { findSession, sessionState } from './lib/session.ts';
import { language } from './lib/words.ts';
import { Problem } from './parts/problem.tsx';
import { Toasts } from './parts/toasts.tsx';
import { LoginDialog, LoginPage } from './shell/login.tsx';
import { Shell } from './shell/shell.tsx';
// oxlint-disable-next-line import/no-unassigned-import -- esbuild makes main.css of it
import './styles/index.css';

function App() {
  const problem = useSignal<unknown>(undefined);
  const state = sessionState.value;
  const attempt = (work: () => Promise<void>): void => {
    problem.value = undefined;
    work().catch((error: unknown) => {
      problem.value = error;
    });
  };
  useEffect(() => {
    if (state === 'starting') attempt(findSession);
    if (state === 'in' && allowed.value === undefined) attempt(findRights);
  }, [state]);
  return (
    <>
      {problem.value !== undefined && (
        <Problem error={problem.value} retry={() => attempt(state === 'starting' ? findSession : findRights)} />
      )}
      {state === 'out' && <LoginPage />}
      {allowed.value !== undefined && <Shell />}
      {state === 'ended' && <LoginDialog />}
      <Toasts />
    </>
  );
}

effect(() => {
  document.documentElement.lang = language.value;
});
listenForKeys();
followAddress();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
