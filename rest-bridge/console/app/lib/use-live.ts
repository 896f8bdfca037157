/** Data of a page that stays true: read at the start, after events, and at an interval. */
import { batch, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { feed } from './feed.ts';

export interface Live<T> {
  /** Undefined before the first answer; of the last successful read after that. */
  readonly data: T | undefined;
  readonly problem: unknown;
  readonly reload: () => void;
}

export interface Changes {
  /** Classes of events, or `class.type`, after which it is read again. */
  readonly events?: readonly string[];
  /** Filter of these events. */
  readonly filter?: object;
  /** Events within this time are one read. Milliseconds; default 400. */
  readonly gatherMs?: number;
  /** Milliseconds between reads while the page is in sight. */
  readonly everyMs?: number;
}

const GATHER_MS = 400;

/** @param load reads the data @param key what it reads: another key is read anew */
export function useLive<T>(load: () => Promise<T>, key: string, changes: Changes = {}): Live<T> {
  const { events, filter, gatherMs = GATHER_MS, everyMs } = changes;
  const data = useSignal<T | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const reload = useRef(() => {});
  useEffect(() => {
    let last = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      const own = (last += 1);
      try {
        const found = await load();
        if (own !== last) return;
        batch(() => {
          data.value = found;
          problem.value = undefined;
        });
      } catch (error) {
        if (own === last) problem.value = error;
      }
    };
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void run();
      }, gatherMs);
    };
    reload.current = () => void run();
    const unfollow =
      events === undefined
        ? undefined
        : feed.follow({ events, ...(filter !== undefined && { filter }), onStart: () => void run(), onEvent: soon });
    if (events === undefined) void run();
    const interval = everyMs === undefined ? undefined : setInterval(() => !document.hidden && void run(), everyMs);
    return () => {
      last = -1;
      clearTimeout(timer);
      clearInterval(interval);
      unfollow?.();
    };
  }, [key]);
  return { data: data.value, problem: problem.value, reload: () => reload.current() };
}
