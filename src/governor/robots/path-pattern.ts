import { canonicalPath } from './canonical-path.ts';

/** A path pattern of a rule, ready to match canonical paths. */
export type PathPattern = {
  /** Octets of the canonical pattern, "*" and "$" included: the longest match wins. */
  length: number;
  /** The literal pieces between the "*"s; the first is the prefix. Just one when there is no "*". */
  pieces: readonly string[];
  /** It ended with "$": the last piece must end the path. */
  isAnchored: boolean;
};

/**
 * Compiles a pattern.
 * @param pattern as written in the robots.txt: "*" = any characters, "$" at the end = end of the path
 */
export function compilePattern(pattern: string): PathPattern {
  const isAnchored = pattern.endsWith('$');
  const written = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  let isInQuery = false;
  const pieces = written.map((piece) => {
    const canonical = canonicalPath(piece, isInQuery);
    isInQuery ||= piece.includes('?');
    return canonical;
  });
  const signs = pieces.length - 1 + (isAnchored ? 1 : 0);
  return { length: pieces.reduce((sum, piece) => sum + piece.length, signs), pieces, isAnchored };
}

/**
 * Tells whether a pattern matches the beginning of a path, or all of it where the pattern is anchored. Each piece is
 * looked for once, leftmost first, which is enough for "*" and cannot backtrack: a hostile file costs no more time.
 * @param path canonical
 */
export function matchesPath({ pieces, isAnchored }: PathPattern, path: string): boolean {
  const prefix = pieces[0] as string;
  if (!path.startsWith(prefix)) return false;
  const last = pieces.length - 1;
  if (last === 0) return !isAnchored || path.length === prefix.length;
  let position = prefix.length;
  for (let index = 1; index < last; index++) {
    const piece = pieces[index] as string;
    const found = path.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  const end = pieces[last] as string;
  if (!isAnchored) return path.indexOf(end, position) >= 0;
  return path.length - end.length >= position && path.endsWith(end);
}
