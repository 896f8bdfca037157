/** Sends ranges of files. */
import type { FastifyReply } from 'fastify';
import type { Readable } from 'node:stream';
import { parseRange } from '../http/byte-range.ts';

/** Sends the file or its requested range (RFC 9110 section 14): players seek in recordings. */
export function sendRange(
  reply: FastifyReply,
  header: string | undefined,
  { bytes, stream }: { readonly bytes: number; readonly stream: (start: number, end: number) => Readable },
): FastifyReply {
  const range = parseRange(header, bytes);
  reply.header('accept-ranges', 'bytes');
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes}`).send();
  if (range === undefined) return reply.header('content-length', bytes).send(stream(0, bytes - 1));
  return reply
    .code(206)
    .header('content-range', `bytes ${range.start}-${range.end}/${bytes}`)
    .header('content-length', range.end - range.start + 1)
    .send(stream(range.start, range.end));
}
