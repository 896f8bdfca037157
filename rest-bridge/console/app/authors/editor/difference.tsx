/** Two texts with their differences: side by side, or on narrow screens one in the other. */
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { words } from '../../words/versions.ts';
import type { Format } from '../scenario-types.ts';
import { reading } from './editor.tsx';

export interface Side {
  readonly label: string;
  readonly text: string;
}

export interface DifferenceProps {
  readonly format: Format;
  readonly before: Side;
  readonly after: Side;
  /** Without it the right text cannot be changed. */
  readonly onChange?: (text: string) => void;
}

const NARROW = '(max-width: 760px)';

/** Takes a change over. Styles of the page do not reach into the shadow root. */
function takeButton(): HTMLElement {
  const button = document.createElement('button');
  button.textContent = '→';
  button.ariaLabel = words('takeChange');
  Object.assign(button.style, { minWidth: '24px', minHeight: '24px', padding: '0' });
  return button;
}

export function Difference({ format, before, after, onChange }: DifferenceProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current: element } = host;
    if (element === null) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const fixed = EditorState.readOnly.of(true);
    const shared = (label: string) => [
      ...reading(format),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    ];
    const changeable = [
      ...shared(after.label),
      onChange === undefined ? fixed : [],
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange?.(update.state.doc.toString());
      }),
    ];
    if (matchMedia(NARROW).matches) {
      const unified = unifiedMergeView({ original: before.text, mergeControls: onChange !== undefined });
      const view = new EditorView({ root, parent: root, doc: after.text, extensions: [changeable, unified] });
      return () => view.destroy();
    }
    const view = new MergeView({
      root,
      parent: root,
      a: { doc: before.text, extensions: [shared(before.label), fixed] },
      b: { doc: after.text, extensions: changeable },
      ...(onChange !== undefined && { revertControls: 'a-to-b' as const, renderRevertControl: takeButton }),
    });
    return () => view.destroy();
  }, [before.text]);
  return (
    <>
      <div class="difference-heads">
        <h3>{before.label}</h3>
        <h3>{after.label}</h3>
      </div>
      <div ref={host} class="difference" onKeyDown={(event) => event.stopPropagation()} />
    </>
  );
}
