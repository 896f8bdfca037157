/** A new call, and the other operations that are not done to one live call. */
import { useSignal } from '@preact/signals';
import { Dialog } from '../../parts/dialog.tsx';
import { orToast } from '../../parts/toasts.tsx';
import { type ApiOperation, operationsWithoutCall } from '../../stores/openapi.ts';
import { words } from '../../words/calls.ts';
import { OperationDialog } from './operation-dialog.tsx';

export function NewCall() {
  const listed = useSignal<readonly ApiOperation[] | undefined>(undefined);
  const open = useSignal<ApiOperation | undefined>(undefined);
  const withAll = (use: (operations: readonly ApiOperation[]) => void): void =>
    orToast(operationsWithoutCall('/uc/calls').then(use));
  const choose = (name: string): void =>
    withAll((operations) => {
      open.value = operations.find((operation) => operation.name === name);
    });
  return (
    <>
      <button type="button" class="primary" onClick={() => choose('invite')}>
        {words('newCall')}
      </button>
      <button type="button" onClick={() => choose('invitebyivr')}>
        {words('callScenario')}
      </button>
      <button
        type="button"
        onClick={() =>
          withAll((operations) => {
            listed.value = operations;
          })
        }
      >
        {words('moreOperations')}
      </button>
      {listed.value !== undefined && (
        <Dialog
          title={words('moreOperations')}
          onClose={() => {
            listed.value = undefined;
          }}
        >
          <dl class="choices">
            {listed.value.map((operation) => (
              <div key={operation.name}>
                <dt>
                  <button
                    type="button"
                    onClick={() => {
                      listed.value = undefined;
                      open.value = operation;
                    }}
                  >
                    {operation.name}
                  </button>
                </dt>
                <dd>{operation.summary}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
      {open.value !== undefined && (
        <OperationDialog
          operation={open.value}
          onClose={() => {
            open.value = undefined;
          }}
        />
      )}
    </>
  );
}
