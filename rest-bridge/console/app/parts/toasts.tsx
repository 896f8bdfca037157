/** Short messages at the edge of the page, which a screen reader reads out. */
import { signal } from '@preact/signals';
import { problemText } from './problem.tsx';
import { words } from '../words/shell.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 6_000;
const toasts = signal<readonly Toast[]>([]);
let next = 0;

/** Shows a message for some seconds. */
export function toast(text: string): void {
  next += 1;
  const id = next;
  toasts.value = [...toasts.value, { id, text }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Shows the error of an action that has no other place for it. */
export function orToast(done: Promise<unknown>): void {
  done.catch((error: unknown) => toast(problemText(error)));
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text }) => (
        <p key={id}>
          <span>{text}</span>
          <button type="button" class="quiet" aria-label={words('dismiss')} onClick={() => dismiss(id)}>
            ×
          </button>
        </p>
      ))}
    </div>
  );
}
