/** A new call, and the other operations that are not done to one live call. */
import { closeOver, openOver, over, route, setQuery } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { operationsWithoutCall } from '../../stores/openapi.ts';
import { words } from '../../words/calls.ts';
import { OperationDialog } from './operation-dialog.tsx';

/** In the address: the list of all. */
const ALL = 'operations';

export function NewCall() {
  const open = openOver();
  return (
    <>
      <button type="button" class="primary" onClick={() => over('invite')}>
        {words('newCall')}
      </button>
      <button type="button" onClick={() => over('invitebyivr')}>
        {words('callScenario')}
      </button>
      <button type="button" onClick={() => over(ALL)}>
        {words('moreOperations')}
      </button>
      {open !== undefined && <Opened name={open} />}
    </>
  );
}

function Opened({ name }: { readonly name: string }) {
  const operations = useLive(() => operationsWithoutCall('/uc/calls'), 'operations');
  const operation = operations.data?.find((each) => each.name === name);
  if (operations.problem !== undefined) return <Problem error={operations.problem} retry={operations.reload} />;
  if (operation !== undefined) return <OperationDialog key={name} operation={operation} onClose={closeOver} />;
  if (name !== ALL) return null;
  return (
    <Dialog title={words('moreOperations')} onClose={closeOver}>
      <dl class="choices">
        {operations.data?.map((each) => (
          <div key={each.name}>
            <dt>
              <button type="button" onClick={() => setQuery({ ...route.value.query, open: each.name })}>
                {each.name}
              </button>
            </dt>
            <dd>{each.summary}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
