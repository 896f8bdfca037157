/** Asks before a room ends for all. */
import { Dialog } from '../../parts/dialog.tsx';
import { words } from '../../words/conferences.ts';
import { words as shell } from '../../words/shell.ts';

export interface EndDialogProps {
  /** Number of participants. */
  readonly count: number;
  readonly onEnd: () => void;
  readonly onClose: () => void;
}

export function EndDialog({ count, onEnd, onClose }: EndDialogProps) {
  return (
    <Dialog title={words('end')} onClose={onClose}>
      <p>{words('endSure', { n: count })}</p>
      <div class="buttons">
        <button type="button" class="danger" onClick={onEnd}>
          {words('end')}
        </button>
        <button type="button" onClick={onClose}>
          {shell('cancel')}
        </button>
      </div>
    </Dialog>
  );
}
