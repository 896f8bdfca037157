/** Colours of the editor: the variables of the page, so that they follow light and dark. */
import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName, tags.attributeName], color: 'var(--accent)' },
  { tag: [tags.keyword, tags.controlKeyword, tags.bool, tags.null], color: 'var(--line-2)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number], color: 'var(--line-3)' },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: 'var(--line-3)' },
]);

export const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--card)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent-soft) 35%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--focus) 30%, transparent)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--accent-soft)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--card)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: '6px',
    maxWidth: '32rem',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '.cm-completionInfo': { padding: '0.4rem 0.6rem' },
  '.cm-diagnostic': { padding: '0.3rem 0.6rem', overflowWrap: 'anywhere' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-diagnosticAction': {
    backgroundColor: 'var(--accent)',
    color: 'var(--accent-text)',
    padding: '2px 8px',
    borderRadius: '4px',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--warn)',
    textDecorationSkipInk: 'none',
  },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
  '.cm-textfield': { backgroundColor: 'var(--card)', color: 'var(--text)', border: '1px solid var(--control)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--card)', border: '1px solid var(--control)' },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--warn-soft) 70%, transparent) !important' },
  '.cm-changedText': { background: 'color-mix(in srgb, var(--warn) 30%, transparent) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft)' },
  '.cm-insertedLine': { backgroundColor: 'color-mix(in srgb, var(--good-soft) 80%, transparent)' },
});
