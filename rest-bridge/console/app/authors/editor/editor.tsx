/**
 * The text editor. It lives in a shadow root: there CodeMirror's styles are style sheets of scripts, which the policy of the
 * page allows.
 */
import { autocompletion, closeBrackets, completionKeymap, type CompletionContext } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { language } from '../../lib/words.ts';
import { words } from '../../words/scenarios.ts';
import type { Format, Problem } from '../scenario-types.ts';
import { completions } from './completions.ts';
import { fixOf } from './fixes.ts';
import { GERMAN } from './phrases.ts';
import { colours, theme } from './theme.ts';

export interface EditorProps {
  readonly label: string;
  readonly format: Format;
  /** No scenario: without its completion. */
  readonly plain?: boolean;
  readonly text: string;
  /** Changes when the text comes from elsewhere, and the editor takes it over. */
  readonly turn: number;
  readonly problems?: readonly Problem[];
  /** Goes to this line when `turn` of it changes. */
  readonly line?: { readonly line: number; readonly turn: number } | undefined;
  readonly readOnly?: boolean;
  readonly onChange?: (text: string) => void;
  readonly onSave?: () => void;
  readonly onLine?: (line: number) => void;
}

/** Extensions that all views of scenario texts share. */
export function reading(format: Format): readonly Extension[] {
  return [
    lineNumbers(),
    format === 'yaml' ? yaml() : javascript({ typescript: format === 'ts' }),
    syntaxHighlighting(colours),
    theme,
    indentUnit.of('  '),
  ];
}

export default function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { format, text, turn, problems = [], line, label, readOnly = false, plain = false } = props;

  useEffect(() => {
    const { current: element } = host;
    if (element === null) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          ...reading(format),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          lintGutter(),
          plain
            ? []
            : autocompletion({
                icons: false,
                override: [(context: CompletionContext) => completions(context, format)],
              }),
          EditorState.readOnly.of(readOnly),
          inLanguage.of(textsOf(latest.current.label)),
          // Before the browser's own.
          keymap.of([
            { key: 'Mod-s', preventDefault: true, run: () => (latest.current.onSave?.(), true) },
            { key: 'Escape', run: leave },
            ...completionKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...lintKeymap,
            indentWithTab,
            ...defaultKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange?.(update.state.doc.toString());
            if (update.selectionSet || update.docChanged) {
              const { head } = update.state.selection.main;
              latest.current.onLine?.(update.state.doc.lineAt(head).number);
            }
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = undefined;
    };
  }, [format, readOnly, plain]);

  // The history of changes stays.
  useEffect(() => view.current?.dispatch({ effects: inLanguage.reconfigure(textsOf(label)) }), [label, language.value]);

  useEffect(() => {
    const { current: shown } = view;
    if (shown === undefined || shown.state.doc.toString() === text) return;
    // One undo brings back what was typed just before, and nothing older.
    shown.dispatch({
      changes: { from: 0, to: shown.state.doc.length, insert: text },
      annotations: isolateHistory.of('full'),
    });
  }, [turn]);
  useEffect(() => {
    const { current: shown } = view;
    if (shown === undefined) return;
    const own = problems.filter(({ file }) => file === undefined);
    shown.dispatch(
      setDiagnostics(
        shown.state,
        own.map((problem) => diagnostic(shown.state.doc, problem)),
      ),
    );
  }, [problems, turn]);
  useEffect(() => {
    const { current: shown } = view;
    if (shown === undefined || line === undefined) return;
    const at = shown.state.doc.line(Math.max(1, Math.min(line.line, shown.state.doc.lines)));
    shown.dispatch({ selection: { anchor: at.from }, effects: EditorView.scrollIntoView(at.from, { y: 'center' }) });
    shown.focus();
  }, [line?.turn]);

  // Single keys of the page are not for what is typed here.
  return <div ref={host} class="editor" onKeyDown={(event) => event.stopPropagation()} />;
}

const inLanguage = new Compartment();

function textsOf(label: string): Extension {
  return [
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
    EditorState.phrases.of(language.value === 'de' ? GERMAN : {}),
  ];
}

/** Tab indents in the editor; Escape, then Tab leaves it (WCAG 2.1.2). */
function leave(view: EditorView): boolean {
  view.contentDOM.blur();
  (view.root as ShadowRoot).host?.parentElement?.focus();
  return true;
}

function diagnostic(doc: Text, problem: Problem): Diagnostic {
  const line = doc.line(Math.max(1, Math.min(problem.line, doc.lines)));
  const from = Math.min(line.from + Math.max(0, problem.column - 1), line.to);
  const rest = doc.sliceString(from, line.to);
  const fix = fixOf(problem, rest);
  const length = fix?.length ?? /^[\w.$-]+/.exec(rest)?.[0].length ?? rest.length;
  const { message, suggestion, severity = 'error' } = problem;
  return {
    from,
    to: from + length,
    severity,
    message: suggestion === undefined ? message : `${message}; ${suggestion}`,
    ...(fix && {
      actions: [
        {
          name: words('replaceBy', { word: fix.text }),
          apply: (view: EditorView, start: number) =>
            view.dispatch({ changes: { from: start, to: start + fix.length, insert: fix.text } }),
        },
      ],
    }),
  };
}
