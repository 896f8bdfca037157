/** Octets of a file, both ends included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The one range of a Range header (RFC 9110 section 14.1.2): `bytes=0-99`, `bytes=100-`, `bytes=-100`. Several ranges and
 * other units are answered with the whole, as the RFC allows.
 * @param bytes size of the file
 */
export function parseRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  return from >= bytes || to < from ? 'unsatisfiable' : { from, to };
}
