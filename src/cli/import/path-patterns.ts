// Turns the path patterns of settings files into RE2 patterns of absolute, canonical paths. INVARIANT: a pattern that
// allows matches only paths that the host's pattern matches while the agent works in the project's folder; a pattern of a
// guard matches at least those paths, in any case of letters and from any folder.

import type { HostFolders } from './host-settings.ts';
import { escapePattern } from './shell-patterns.ts';

export interface PathPatterns {
  /** Null when the pattern cannot be carried exactly. */
  readonly allow: string | null;
  readonly guard: string;
  /** A path that the pattern matches, unless it has signs that hosts read in different ways. */
  readonly sample: string;
  /** The part of `guard` behind the folder, for the files of a shell command. */
  readonly core: string;
}

/** A pattern as in `.gitignore`, with `//` for the root, `~/` for the home and `/` for the project's folder. */
export function gitignorePatterns(pattern: string, { project, home }: HostFolders): PathPatterns | null {
  if (pattern === '' || pattern.startsWith('!')) return null;
  if (pattern.startsWith('//')) return anchored({ folder: '', pattern: pattern.slice(1), coversBelow: true });
  if (pattern.startsWith('~/'))
    return anchored({ folder: home, pattern: pattern.slice(1), coversBelow: true });
  if (pattern.startsWith('/')) return anchored({ folder: project, pattern, coversBelow: true });
  return relative(pattern.replace(/^(?:\.\/)+/, ''), { project, isAnyDepth: true });
}

/** A glob of paths: relative to the project's folder, or absolute. */
export function globPatterns(pattern: string, { project, home }: HostFolders): PathPatterns | null {
  if (pattern === '') return null;
  if (pattern.startsWith('~/'))
    return anchored({ folder: home, pattern: pattern.slice(1), coversBelow: false });
  if (pattern.startsWith('/')) return anchored({ folder: '', pattern, coversBelow: false });
  return relative(pattern.replace(/^(?:\.\/)+/, ''), { project, isAnyDepth: false });
}

interface AnchoredPattern {
  readonly folder: string;
  readonly pattern: string;
  /** Whether a pattern that matches a folder also matches what is below it. */
  readonly coversBelow: boolean;
}

function anchored({ folder, pattern, coversBelow }: AnchoredPattern): PathPatterns | null {
  const path = withoutSlashes(pattern);
  if (path === '') return null;
  const sampleStart = folder.replace(/\/+$/, '');
  const start = escapePattern(sampleStart);
  return patternsOf({ start, guardStart: start, sampleStart, path, coversBelow });
}

/** A pattern with a slash at its end is about folders: it matches what is below them. */
function withoutSlashes(pattern: string): string {
  const path = pattern.replace(/\/+$/, '');
  return path === '' || path === pattern || path.endsWith('/**') ? path : `${path}/**`;
}

interface RelativeOptions {
  readonly project: string;
  /** Whether patterns are those of gitignore: one of one segment matches at any depth, and what is below a match matches. */
  readonly isAnyDepth: boolean;
}

function relative(pattern: string, { project, isAnyDepth }: RelativeOptions): PathPatterns | null {
  const path = withoutSlashes(pattern);
  if (path === '') return null;
  const folder = escapePattern(project.replace(/\/+$/, ''));
  const isDeep =
    isAnyDepth && !path.replace(/\/\*\*$/, '').includes('/') && !pattern.replace(/\/+$/, '').includes('/');
  const sampleStart = `${project.replace(/\/+$/, '')}/`;
  return patternsOf({
    start: `${folder}/${isDeep ? '(?:.*/)?' : ''}`,
    guardStart: '(?:.*/)?',
    sampleStart,
    path,
    coversBelow: isAnyDepth,
  });
}

interface PatternParts {
  readonly start: string;
  readonly guardStart: string;
  readonly sampleStart: string;
  readonly path: string;
  readonly coversBelow: boolean;
}

function patternsOf({ start, guardStart, sampleStart, path, coversBelow }: PatternParts): PathPatterns {
  const isExact = !/[[\]\\{}!]/.test(path) && !path.split('/').includes('..');
  const below = path.endsWith('/**') ? '' : '(?:/.*)?';
  const body = segmentsPattern(path);
  const wide = isExact ? body : widePattern(path);
  return {
    allow: isExact ? `${start}${body}${coversBelow ? below : ''}` : null,
    sample: `${sampleStart}${path.replaceAll('**', 'a/b').replaceAll(/[*?]/g, 'a')}`,
    guard: `(?is)${guardStart}${wide}${below}`,
    core: wide.replace(/^\//, ''),
  };
}

function segmentsPattern(path: string): string {
  return path.replaceAll(/\/\*\*\/|^\*\*\/|\/\*\*$|\*+|\?|[^*?/]+|\//g, (part) => {
    if (part === '/**/') return '/(?:.*/)?';
    if (part === '**/') return '(?:.*/)?';
    if (part === '/**') return '/.+';
    if (part.startsWith('*')) return part === '**' && path === '**' ? '.+' : '[^/]*';
    return part === '?' ? '[^/]' : escapePattern(part);
  });
}

/** A pattern for signs with meanings of their own: each of them, and what it may stand for, is any text. */
function widePattern(path: string): string {
  return path.replaceAll(/\[[^\]]*\]|\{[^}]*\}|\\.|\.\.\/?|[*!?[\]{}\\]+|[^*!?[\]{}\\.]+|\./g, (part) =>
    /^(?:[*!?[\]{}\\]|\.\.)/.test(part) ? '.*' : escapePattern(part),
  );
}
