import type { FastifyReply } from 'fastify';
import type { Readable } from 'node:stream';

/** Sends ranges of files. */

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

/** Sends the file or its requested range (RFC 9110 section 14): players seek in recordings. */
export function sendRange(
  reply: FastifyReply,
  header: string | undefined,
  { bytes, stream }: { readonly bytes: number; readonly stream: (from: number, to: number) => Readable },
): FastifyReply {
  const range = parseRange(header, bytes);
  reply.header('accept-ranges', 'bytes');
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes}`).send();
  if (range === undefined) return reply.header('content-length', bytes).send(stream(0, bytes - 1));
  return reply
    .code(206)
    .header('content-range', `bytes ${range.from}-${range.to}/${bytes}`)
    .header('content-length', range.to - range.from + 1)
    .send(stream(range.from, range.to));
}
