/** Keyboard conventions. Single keys count outside of fields only, and a person may turn them off (WCAG 2.1.4). */
import { signal } from '@preact/signals';
import { kept, keep } from './kept.ts';

export const singleKeys = signal(kept('keys') !== 'off');

export function allowSingleKeys(allowed: boolean): void {
  singleKeys.value = allowed;
  keep('keys', allowed ? 'on' : 'off');
}

const handlers = new Map<string, () => void>();
const SEQUENCE_MS = 1_500;
let leader: { readonly key: string; readonly at: number } | undefined;

/** @param keys one key such as `?`, or two in a row such as `g c` @returns ends it */
export function onKeys(keys: string, run: () => void): () => void {
  handlers.set(keys, run);
  return () => {
    if (handlers.get(keys) === run) handlers.delete(keys);
  };
}

/** Listens at the document. */
export function listenForKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    if (event.defaultPrevented || ctrlKey || metaKey || altKey || !singleKeys.value || isTyping(target)) return;
    // Dialogs have keys of their own.
    if (document.querySelector('dialog[open]') !== null) return;
    const before = leader !== undefined && Date.now() - leader.at < SEQUENCE_MS ? `${leader.key} ` : '';
    leader = { key, at: Date.now() };
    const run = handlers.get(before + key) ?? handlers.get(key);
    if (run === undefined) return;
    leader = undefined;
    event.preventDefault();
    run();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
