/**
 * The known name a mistyped one was most likely meant to be.
 * @returns null when none is near: at most a third of the letters wrong, a swapped pair counting once, else one that begins
 *   with it or that it begins with (`page`: pageNumber); case and separators (`max-concurrency`, `maxConcurrency`) do not
 *   matter
 */
export function nearestName(name: string, known: Iterable<string>): string | null {
  const wanted = plain(name);
  let best: { name: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    const isNear = distance <= Math.max(wanted.length, plain(candidate).length) / 3;
    if (isNear && (best === null || distance < best.distance)) best = { name: candidate, distance };
  }
  return best?.name ?? namesake(wanted, known);
}

// Fewer letters begin many a name.
const LEAST_COMMON_LETTERS = 4;

function namesake(wanted: string, known: Iterable<string>): string | null {
  for (const candidate of known) {
    const [shorter, longer] = [wanted, plain(candidate)].toSorted((a, b) => a.length - b.length) as [string, string];
    if (shorter.length >= LEAST_COMMON_LETTERS && longer.startsWith(shorter)) return candidate;
  }
  return null;
}

/** @returns ` Did you mean X?` with a space in front, or nothing: to be put at the end of a message. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === null ? '' : ` Did you mean ${nearest}?`;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/**
 * Letters to insert, delete, replace or swap with their neighbour to turn one text into the other.
 * @see https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance (optimal string alignment)
 */
export function editDistance(from: string, to: string): number {
  let twoRowsUp: number[] = [];
  let rowUp = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        rowUp[column]! + 1,
        current[column - 1]! + 1,
        rowUp[column - 1]! + (isSame ? 0 : 1),
        isSwapped ? twoRowsUp[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    twoRowsUp = rowUp;
    rowUp = current;
  }
  return rowUp[to.length]!;
}
