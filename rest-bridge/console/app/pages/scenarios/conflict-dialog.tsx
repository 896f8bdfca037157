/** Two authors changed one text: both versions, and one text that the author makes of them. Nothing typed is lost. */
import { useSignal } from '@preact/signals';
import { Difference } from '../../authors/editor/difference.tsx';
import type { OpenScenario } from '../../authors/open-scenario.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from '../../words/versions.ts';

export function ConflictDialog({ open }: { readonly open: OpenScenario }) {
  const mine = useSignal(open.text.value);
  const { value: conflict } = open.conflict;
  const { value: script } = open.script;
  if (conflict === undefined || script === undefined) return null;
  const { version, scriptdata } = conflict.current;
  const { source, format } = scriptdata;
  const close = (): void => {
    open.replace(mine.value);
    open.conflict.value = undefined;
  };
  const save = async (): Promise<void> => {
    open.replace(mine.value);
    const saved = await open.save(script.draft, version);
    if (saved !== undefined) toast(words('saved', { n: open.script.value?.version ?? saved.version }));
  };
  return (
    <Dialog title={words('conflict')} wide onClose={close}>
      <p>{words('conflictHelp')}</p>
      <Difference
        format={format}
        before={{ label: words('theirs', { n: version }), text: source }}
        after={{ label: words('yours'), text: mine.value }}
        onChange={(text) => (mine.value = text)}
      />
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void save()}>
          {words('saveRight')}
        </button>
        <button type="button" onClick={() => open.takeTheirs(source, version)}>
          {words('takeTheirs')}
        </button>
        <button type="button" onClick={close}>
          {words('goOn')}
        </button>
      </div>
    </Dialog>
  );
}
