/** A labelled field of a form, with a hint and its mistake. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { words } from '../words/shell.ts';

export interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

export interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly mistake?: string | undefined;
  readonly required?: boolean;
  /** Draws the control with these attributes. */
  readonly children: (ids: FieldIds) => ComponentChildren;
}

export function Field({ label, hint, mistake, required, children }: FieldProps) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, mistake !== undefined && `${id}-mistake`].filter(Boolean);
  return (
    <div class="field">
      <label for={id}>
        {label}
        {required === true && <span class="tag">{words('required')}</span>}
      </label>
      {children({
        id,
        'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
        'aria-invalid': mistake !== undefined,
      })}
      {mistake !== undefined && (
        <p id={`${id}-mistake`} class="mistake">
          {mistake}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
