/** An error as a person reads it: what is wrong, in which field, and what to do. */
import { ApiError } from '../lib/api.ts';
import { words } from '../words/shell.ts';

/** The text of any error. */
export function problemText(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error instanceof Error ? error.message : error);
  if (error.status === 0) return words(error.code === 1 ? 'noCookie' : 'unreachable');
  if (error.status === 403 && error.reason === undefined) return words('forbidden');
  if (error.status === 404) return `${words('notFound')} (${error.message})`;
  return error.message;
}

export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  if (error === undefined || error === null) return null;
  return (
    <div class="problem" role="alert">
      <p>{problemText(error)}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          {words('tryAgain')}
        </button>
      )}
    </div>
  );
}
