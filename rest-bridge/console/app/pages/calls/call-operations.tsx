/** Everything that can be done to a call: a button for each operation of the OpenAPI document. */
import { closeOver, openOver, over } from '../../lib/router.ts';
import { party } from '../../lib/uri.ts';
import type { Suggestion } from '../../parts/schema-form.tsx';
import type { Call } from '../../stores/calls.ts';
import type { ApiOperation } from '../../stores/openapi.ts';
import { words } from '../../words/calls.ts';
import { OperationDialog } from './operation-dialog.tsx';

/** Fields that name a side of the call. */
const SIDES = ['by', 'masterby', 'callid', 'side'];

/** Users look for these two; the others have the names that they have in programs. */
function nameOf({ method, name, path }: ApiOperation): string {
  if (method === 'DELETE') return words('end');
  return name === 'refer' && path.startsWith('/user/') ? words('transfer') : name;
}

export interface CallOperationsProps {
  readonly operations: readonly ApiOperation[];
  readonly call: Call;
  /** No operation can begin any more; the outcome of the last one stays until it is closed. */
  readonly ended: boolean;
  readonly onDone: () => void;
}

export function CallOperations({ operations, call, ended, onDone }: CallOperationsProps) {
  const open = operations.find(({ name }) => name === openOver());
  const sides: Suggestion[] = call.legs.map(({ callid, side, remoteuri }) => ({
    value: callid,
    label: `${side}: ${party(remoteuri)}`,
  }));
  const caller = sides[0]?.value ?? '';
  return (
    <>
      <div class="bar" role="group" aria-label={words('operations')} hidden={ended}>
        {operations.map((operation) => (
          <button
            key={operation.name}
            type="button"
            class={operation.method === 'DELETE' ? 'danger' : ''}
            title={operation.summary}
            onClick={() => over(operation.name)}
          >
            {nameOf(operation)}
          </button>
        ))}
      </div>
      {open !== undefined && (
        <OperationDialog
          key={open.name}
          operation={open}
          id={call.dialogid}
          initial={Object.fromEntries(
            open.fields
              .filter(({ name, required }) => required && SIDES.includes(name))
              .map(({ name }) => [name, caller]),
          )}
          suggestions={Object.fromEntries(SIDES.map((name) => [name, sides]))}
          onClose={() => {
            closeOver();
            onDone();
          }}
        />
      )}
    </>
  );
}
