/** Suggestions for unknown names. */

/** Edit distance with swaps of neighbours as one edit (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** The candidate closest to `word`; undefined when none is close enough (at most a third of the letters wrong, missing or added). */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let found: string | undefined;
  let best = Math.min(word.length, Math.max(1, Math.floor(word.length / 3)) + 1);
  const wanted = word.toLowerCase().replaceAll('-', '_');
  for (const candidate of candidates) {
    // The difference in length is a lower bound of the distance: saves time for very long names in scripts.
    if (Math.abs(wanted.length - candidate.length) >= best) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found ?? beginningAlike(wanted, candidates);
}

/** The candidate that differs from `word` by one letter, or by two neighbours swapped. Short words are never misspelt. */
export function misspelt(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length < 5) return undefined;
  for (const candidate of candidates)
    if (Math.abs(candidate.length - word.length) <= 1 && editDistance(word, candidate) === 1) return candidate;
  return undefined;
}

/** `lang` for `language`, `max_digits` for `max`. */
function beginningAlike(word: string, candidates: Iterable<string>): string | undefined {
  for (const candidate of candidates) {
    const other = candidate.toLowerCase();
    if (Math.min(word.length, other.length) < 3) continue;
    const isShort = other.startsWith(word) && word.length * 2 >= other.length;
    const rest = word.slice(other.length);
    const isLong = word.startsWith(other) && (rest.length <= 3 || !/^[a-z0-9]/.test(rest));
    if (isShort || isLong) return candidate;
  }
  return undefined;
}

/** The reason for refusing a name, with the nearest known one: `is not known; did you mean 'filter'?` */
export function notKnown(name: string, known: Iterable<string>): string {
  const meant = nearest(name, known);
  return meant === undefined ? 'is not known' : `is not known; did you mean '${meant}'?`;
}
