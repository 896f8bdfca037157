/** A modal dialog. Escape closes it, and the focus returns to where it was. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { CallBar } from './call-bar.tsx';
import { words } from '../words/shell.ts';

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Without it the dialog stays until its owner takes it away. */
  readonly onClose?: () => void;
  readonly wide?: boolean;
}

export function Dialog({ title, children, onClose, wide }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // At once: an Escape of the next moment is for the dialog.
  useLayoutEffect(() => {
    element.current?.showModal();
    // In place of the button that closes it.
    element.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
    return () => element.current?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide === true ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose !== undefined && (
          <button type="button" class="quiet" aria-label={words('close')} onClick={onClose}>
            ×
          </button>
        )}
      </header>
      <CallBar inDialog />
      {children}
    </dialog>
  );
}
