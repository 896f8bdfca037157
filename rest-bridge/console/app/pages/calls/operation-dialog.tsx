/** An operation as a form: check it, run it, and follow its milestones. */
import { batch, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, call } from '../../lib/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { AnswerFacts } from '../../parts/facts.tsx';
import { Problem } from '../../parts/problem.tsx';
import { bodyOf, type Typed } from '../../parts/schema-fields.ts';
import { SchemaForm, type Suggestion } from '../../parts/schema-form.tsx';
import { Timeline } from '../../parts/timeline.tsx';
import type { ApiOperation } from '../../stores/openapi.ts';
import { newestOperation } from '../../stores/operation-record.ts';
import { words } from '../../words/operations.ts';
import { words as shell } from '../../words/shell.ts';
import { DryRun, type DryRunAnswer } from './dry-run.tsx';

export interface OperationDialogProps {
  readonly operation: ApiOperation;
  /** Of the dialog in the path. */
  readonly id?: string;
  readonly initial?: Typed;
  readonly suggestions?: Readonly<Record<string, readonly Suggestion[]>>;
  readonly onClose: () => void;
}

type Phase = 'form' | 'running' | 'done';
const LOOK_MS = 500;

export function OperationDialog({ operation, id, initial, suggestions, onClose }: OperationDialogProps) {
  const typed = useSignal<Typed>(initial ?? {});
  const mistakes = useSignal<Readonly<Record<string, string>>>({});
  const problem = useSignal<unknown>(undefined);
  const phase = useSignal<Phase>('form');
  const checked = useSignal<DryRunAnswer | undefined>(undefined);
  const answer = useSignal<unknown>(undefined);
  const operationId = useSignal<string | undefined>(undefined);

  const send = async (dry: boolean): Promise<void> => {
    const form = bodyOf(operation.fields, typed.value);
    batch(() => {
      mistakes.value = form.mistakes;
      problem.value = undefined;
      checked.value = undefined;
    });
    if (Object.keys(form.mistakes).length > 0) return;
    const before = dry ? undefined : await newestOperation().catch(() => undefined);
    phase.value = 'running';
    // The request is answered at a milestone; until then the record is the only one to know.
    const looking = dry ? undefined : setInterval(() => void look(before), LOOK_MS);
    try {
      const response = await call(operation.method, operation.path.replace('{id}', encodeURIComponent(id ?? '')), {
        ...(operation.method === 'POST' && { body: form.body }),
        ...(dry && { query: { dry_run: true } }),
      });
      const text = await response.text();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      batch(() => {
        if (dry) checked.value = body as DryRunAnswer;
        else answer.value = body;
        operationId.value = response.headers.get('operation-id') ?? operationId.value;
        phase.value = dry ? 'form' : 'done';
      });
    } catch (error) {
      batch(() => {
        problem.value = error;
        phase.value = 'form';
        if (error instanceof ApiError && error.field !== undefined)
          mistakes.value = { [error.field]: error.reason ?? error.message };
      });
    } finally {
      clearInterval(looking);
    }
  };
  const look = async (before: string | undefined): Promise<void> => {
    const newest = await newestOperation().catch(() => undefined);
    if (newest !== before && phase.value === 'running') operationId.value = newest;
  };
  useEffect(() => () => void (phase.value = 'form'), []);

  const busy = phase.value === 'running';
  return (
    <Dialog title={operation.name} onClose={onClose}>
      <p class="quiet">{operation.summary}</p>
      {phase.value === 'form' ? (
        <SchemaForm
          fields={operation.fields}
          typed={typed}
          mistakes={mistakes.value}
          {...(suggestions !== undefined && { suggestions })}
          onSubmit={() => void send(false)}
        >
          <Problem error={problem.value} />
          {checked.value !== undefined && <DryRun answer={checked.value} />}
          <button type="submit" class={operation.method === 'DELETE' ? 'danger' : 'primary'}>
            {words('run')}
          </button>
          {operation.dryRun && (
            <button type="button" onClick={() => void send(true)}>
              {words('check')}
            </button>
          )}
        </SchemaForm>
      ) : (
        <div class="outcome" role="status">
          <h3>{words(busy ? 'running' : 'done')}</h3>
          {operationId.value !== undefined && (
            <Timeline id={operationId.value} own={operation.path.startsWith('/user/')} />
          )}
          {!busy && answer.value !== undefined && <AnswerFacts answer={answer.value} />}
          {!busy && (
            <div class="buttons">
              <button type="button" class="primary" onClick={onClose}>
                {shell('close')}
              </button>
              <button
                type="button"
                onClick={() => {
                  phase.value = 'form';
                }}
              >
                {words('again')}
              </button>
            </div>
          )}
        </div>
      )}
    </Dialog>
  );
}
