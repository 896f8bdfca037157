/** Digits in SIP INFO. */
import type { SipRequest } from '../../stack/index.ts';

/** Duration of a digit without one, ms. */
const DEFAULT_MS = 250;

/** Reads the digit of an INFO with application/dtmf-relay or application/dtmf; undefined without one. */
export function readInfoDigit(
  request: SipRequest,
): { readonly digit: string; readonly milliseconds: number } | undefined {
  const type = (request.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  const body = request.body.toString('latin1', 0, 256);
  if (type === 'application/dtmf') {
    const digit = /^\s*([0-9A-D*#])\s*$/i.exec(body)?.[1];
    return digit === undefined ? undefined : { digit: digit.toUpperCase(), milliseconds: DEFAULT_MS };
  }
  if (type !== 'application/dtmf-relay') return undefined;
  const signal = /^Signal\s*=\s*(1[01]|[0-9A-D*#])\s*$/im.exec(body)?.[1];
  if (signal === undefined) return undefined;
  const milliseconds = Number(/^Duration\s*=\s*(\d{1,5})\s*$/im.exec(body)?.[1] ?? DEFAULT_MS);
  const digit = signal === '10' ? '*' : signal === '11' ? '#' : signal.toUpperCase();
  return { digit, milliseconds };
}
