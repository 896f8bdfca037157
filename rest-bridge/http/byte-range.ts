/** Ranges of a file, and conditional requests (RFC 9110 sections 13 and 14). */

export interface ByteRange {
  readonly start: number;
  /** Included. */
  readonly end: number;
}

const RANGE = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i;

/**
 * Reads the header Range against a content of `size` bytes.
 *
 * @returns undefined for the whole content: no header, an invalid one, or several ranges, which a server may answer with the
 * whole; `unsatisfiable` when the range is outside of the content
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = RANGE.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}

/** If-None-Match, or else If-Modified-Since: true when the client has this content. */
export function isUnchanged(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  etag: string,
  modified: Date,
): boolean {
  const tags = headers['if-none-match'];
  if (typeof tags === 'string') return tags.split(',').some((tag) => matches(tag.trim(), etag));
  const since = headers['if-modified-since'];
  // HTTP dates have no milliseconds.
  return typeof since === 'string' && Math.floor(modified.getTime() / 1000) <= Date.parse(since) / 1000;
}

/** If-Range: true when the client's part is of the same content. */
export function rangeApplies(condition: string | string[] | undefined, etag: string, modified: Date): boolean {
  return condition === undefined || condition === etag || condition === modified.toUTCString();
}

function matches(tag: string, etag: string): boolean {
  return tag === '*' || tag === etag || tag === `W/${etag}`;
}
