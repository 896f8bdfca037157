/** A form made from a JSON Schema. Its owner keeps what is typed, so that it survives errors and a new login. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { words } from '../words/shell.ts';
import { Field, type FieldIds } from './field.tsx';
import { type MistakeKind, type SchemaField, type Typed, typedForm } from './schema-fields.ts';

export interface SchemaFormProps {
  readonly fields: readonly SchemaField[];
  readonly typed: Signal<Typed>;
  /** Mistakes by field: those found here, or texts of the service. */
  readonly mistakes: Readonly<Record<string, string>>;
  /** Values to choose from, by field; others may be typed. */
  readonly suggestions?: Readonly<Record<string, readonly Suggestion[]>>;
  readonly onSubmit: () => void;
  /** Buttons. */
  readonly children: ComponentChildren;
}

export interface Suggestion {
  readonly value: string;
  readonly label: string;
}

const LOCAL: readonly string[] = ['missing', 'notNumber', 'notJson'] satisfies MistakeKind[];

export function SchemaForm({ fields, typed, mistakes, suggestions, onSubmit, children }: SchemaFormProps) {
  const control = (field: SchemaField) => {
    const mistake = mistakes[field.name];
    return (
      <Field
        key={field.name}
        label={field.name}
        hint={hintOf(field)}
        mistake={
          mistake !== undefined && LOCAL.includes(mistake) ? `${field.name} ${words(mistake as MistakeKind)}` : mistake
        }
        required={field.required}
      >
        {(ids) => (
          <Control
            field={field}
            ids={ids}
            suggestions={suggestions?.[field.name] ?? []}
            value={typed.value[field.name] ?? ''}
            onInput={(value) => {
              typed.value = { ...typed.value, [field.name]: value };
            }}
          />
        )}
      </Field>
    );
  };
  const rare = fields.filter(({ required }) => !required);
  const isUsed = rare.some(({ name }) => (typed.value[name] ?? '') !== '' || mistakes[name] !== undefined);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {fields.filter(({ required }) => required).map(control)}
      {rare.length > 0 &&
        (rare.length === fields.length && rare.length <= 3 ? (
          rare.map(control)
        ) : (
          <details open={isUsed}>
            <summary>{words('more')}</summary>
            <div class="fields">{rare.map(control)}</div>
          </details>
        ))}
      <div class="buttons">{children}</div>
    </form>
  );
}

function hintOf({ hint, kind, fallback }: SchemaField): string | undefined {
  const more = [
    hint?.replaceAll('`', ''),
    kind === 'list' ? words('oneEach') : undefined,
    kind === 'json' ? words('asJson') : undefined,
    fallback === undefined ? undefined : words('defaultIs', { value: typedForm(fallback) }),
  ].filter((part) => part !== undefined);
  return more.length === 0 ? undefined : more.join(' · ');
}

interface ControlProps {
  readonly field: SchemaField;
  readonly ids: FieldIds;
  readonly suggestions: readonly Suggestion[];
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function Control({ field, ids, suggestions, value, onInput }: ControlProps) {
  const { kind, choices, schema } = field;
  const typed = (event: Event) => onInput((event.currentTarget as HTMLInputElement).value);
  const example = schema.examples?.[0];
  const placeholder = example === undefined ? '' : typedForm(example);
  switch (kind) {
    case 'flag':
    case 'choice':
      return (
        <select {...ids} value={value} onChange={typed}>
          <option value="" />
          {(kind === 'flag' ? ['true', 'false'] : choices).map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      );
    case 'list':
    case 'json':
      return <textarea {...ids} rows={3} value={value} placeholder={placeholder} onInput={typed} spellcheck={false} />;
    case 'number':
    case 'text':
      return (
        <>
          <input
            {...ids}
            list={suggestions.length > 0 ? `${ids.id}-list` : undefined}
            value={value}
            placeholder={placeholder}
            onInput={typed}
            inputMode={kind === 'number' ? 'numeric' : 'text'}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
          {suggestions.length > 0 && (
            <datalist id={`${ids.id}-list`}>
              {suggestions.map((each) => (
                <option key={each.value} value={each.value}>
                  {each.label}
                </option>
              ))}
            </datalist>
          )}
        </>
      );
    default:
      return kind satisfies never;
  }
}
