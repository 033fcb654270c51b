// The look of the editor, made of the dashboard's own tokens, which reach into its shadow root and cover both
// themes.

import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { policyTags as tags } from './policy-language.ts';

const marked = (color: string) => ({
  backgroundImage: 'none',
  textDecoration: `underline wavy var(${color})`,
  textUnderlineOffset: '0.25em',
});

export const editorTheme = EditorView.theme({
  '&': {
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    fontSize: 'var(--size-small)',
    height: 'var(--editor-height, auto)',
    minHeight: 'var(--editor-height-min, 8rem)',
    maxHeight: 'var(--editor-height-max, none)',
    borderRadius: 'inherit',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overflow: 'auto', borderRadius: 'inherit' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-line': { padding: '0 0.75rem' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in oklab, var(--accent-solid) 28%, transparent)',
  },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text-soft)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklab, var(--accent-soft) 45%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--deny-soft)' },
  '.cm-specialChar': { color: 'var(--escalate)', backgroundColor: 'var(--escalate-soft)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
    fontFamily: 'var(--font)',
    fontSize: 'var(--size-small)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.15rem 0.6rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent-solid)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { marginLeft: '1em', fontStyle: 'normal', opacity: '0.85' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.4rem 0.6rem', maxWidth: '22rem', whiteSpace: 'pre-wrap' },
  '.cm-said': { display: 'grid', gap: '0.4rem', padding: '0.4rem 0.6rem', maxWidth: '32rem' },
  '.cm-said code': { fontFamily: 'var(--mono)', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' },
  '.cm-said p': { margin: '0', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' },
  '.cm-name-declared': { fontWeight: '650' },
  '.cm-name-field, .cm-name-fact': { color: 'var(--text)' },
  '.cm-name-builtin': { color: 'var(--accent)' },
  '.cm-name-variable': { color: 'var(--text)', fontStyle: 'italic' },
  '.cm-name-list, .cm-name-table, .cm-name-hours, .cm-name-let, .cm-name-meter': { color: 'var(--reauth)' },
  '.cm-diagnostic': { padding: '0.4rem 0.75rem', borderLeft: '3px solid var(--line-strong)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--deny)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--escalate)' },
  '.cm-diagnosticAction': {
    font: 'inherit',
    color: 'var(--on-accent)',
    backgroundColor: 'var(--accent-solid)',
    borderRadius: 'var(--radius-small)',
    padding: '0.1rem 0.5rem',
  },
  '.cm-lintRange-error': marked('--deny'),
  '.cm-lintRange-warning': marked('--escalate'),
  '.cm-lintRange-active': { backgroundColor: 'var(--deny-soft)' },
  '.cm-lintPoint-error::after': { borderBottomColor: 'var(--deny)' },
  '.cm-lintPoint-warning::after': { borderBottomColor: 'var(--escalate)' },
  '.cm-placeholder': { color: 'var(--text-soft)' },
});

export const editorColours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--text-soft)', fontStyle: 'italic' },
  { tag: [tags.text, tags.escape], color: 'var(--quoted)' },
  { tag: tags.value, color: 'var(--accent)' },
  { tag: [tags.number, tags.constant], color: 'var(--reauth)' },
  { tag: [tags.declaration, tags.outcome], color: 'var(--accent)', fontWeight: '650' },
  { tag: tags.word, color: 'var(--text-soft)', fontWeight: '550' },
  { tag: tags.sign, color: 'var(--text-soft)' },
  { tag: tags.allow, color: 'var(--allow)', fontWeight: '650' },
  { tag: tags.deny, color: 'var(--deny)', fontWeight: '650' },
  { tag: tags.escalate, color: 'var(--escalate)', fontWeight: '650' },
  { tag: tags.reauth, color: 'var(--reauth)', fontWeight: '650' },
]);
