/** The present time, for durations that grow on the page. */
import { signal } from '@preact/signals';

/** Milliseconds since the epoch, each second. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);
