/** Makes a scenario, as a draft with a text to begin with. */
import { useSignal } from '@preact/signals';
import { type Format, type Kind, pathOf } from '../../authors/scenario-types.ts';
import { ApiError, send } from '../../lib/api.ts';
import { replace } from '../../lib/router.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/scenarios.ts';

const TEXTS: Readonly<Record<Format, string>> = {
  yaml: 'start: pick_up\n\nblocks:\n  pick_up:\n    answer:\n    next: hang_up\n\n  hang_up:\n    hangup:\n    next: end\n',
  ts: 'export default async function (call: Call) {\n  await call.answer();\n  await call.hangup();\n}\n',
  js: 'export default async function (call) {\n  await call.answer();\n  await call.hangup();\n}\n',
};
const SERVICE: Readonly<Record<Format, string>> = {
  yaml: 'start: done\n\nblocks:\n  done:\n    return: ok\n    next: end\n',
  ts: 'export default async function (call: Call, args: object) {\n  return { ok: true };\n}\n',
  js: 'export default async function (call, args) {\n  return { ok: true };\n}\n',
};

export function NewScenario({ onClose }: { readonly onClose: () => void }) {
  const code = useSignal('');
  const name = useSignal('');
  const kind = useSignal<Kind>('ivr');
  const format = useSignal<Format>('yaml');
  const failure = useSignal<unknown>(undefined);
  const create = async (): Promise<void> => {
    const source = (kind.value === 'ivr' ? TEXTS : SERVICE)[format.value];
    const scriptdata = { format: format.value, source };
    try {
      const body = { code: code.value, name: name.value === '' ? code.value : name.value, draft: true, scriptdata };
      const { id } = await send<{ readonly id: string }>('POST', pathOf(kind.value), body);
      // In place of this dialog: back leads to the list.
      replace(['scenarios', kind.value, id]);
    } catch (error) {
      failure.value = error;
    }
  };
  const { value: error } = failure;
  const ofCode = error instanceof ApiError && error.field === 'code' ? error.reason : undefined;
  return (
    <Dialog title={words('create')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <p class="quiet">{words('createHelp')}</p>
        <Field label={words('code')} hint={words('codeHelp')} mistake={ofCode} required>
          {(ids) => (
            <input
              {...ids}
              required
              autofocus
              maxLength={64}
              value={code.value}
              onInput={({ currentTarget }) => (code.value = currentTarget.value)}
            />
          )}
        </Field>
        <Field label={words('name')}>
          {(ids) => (
            <input {...ids} value={name.value} onInput={({ currentTarget }) => (name.value = currentTarget.value)} />
          )}
        </Field>
        <Field label={words('forCalls')}>
          {(ids) => (
            <select
              {...ids}
              value={kind.value}
              onChange={({ currentTarget }) => (kind.value = currentTarget.value as Kind)}
            >
              <option value="ivr">{words('calls')}</option>
              <option value="svc">{words('requests')}</option>
            </select>
          )}
        </Field>
        <Field label={words('format')}>
          {(ids) => (
            <select
              {...ids}
              value={format.value}
              onChange={({ currentTarget }) => (format.value = currentTarget.value as Format)}
            >
              <option value="yaml">YAML</option>
              <option value="ts">TypeScript</option>
              <option value="js">JavaScript</option>
            </select>
          )}
        </Field>
        {ofCode === undefined && <Problem error={error} />}
        <div class="buttons">
          <button type="submit" class="primary">
            {words('createIt')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
