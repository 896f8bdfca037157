/** Attachments of entities over HTTP (specification, "Attachments"). */
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type AttachmentInfo,
  type AttachmentPlace,
  attachmentProperty,
  type Attachments,
  ConflictError,
} from '../../runtime/model/index.ts';
import { attachment } from '../content-disposition.ts';
import { badParameter, RestError } from '../errors.ts';
import { type ByteRange, isUnchanged, parseRange, rangeApplies } from '../http/byte-range.ts';
import { contentTypeOf } from '../http/content-types.ts';
import { discardAll, receiveFiles, type Upload } from './uploads.ts';

/** True when the path names a list of files, not one file. */
export function isDirectory({ collection, field, fileName }: AttachmentPlace): boolean {
  return attachmentProperty(collection.definition, field).multi && fileName === undefined;
}

/** METADATA: an object for one file, an array for a directory. */
export async function metadata(attachments: Attachments, place: AttachmentPlace): Promise<object> {
  const infos = await attachments.infos(place);
  return isDirectory(place) ? infos : one(infos);
}

/** GET: the content of a file, or the metadata of a directory's files. */
export async function download(
  attachments: Attachments,
  place: AttachmentPlace,
  request: FastifyRequest,
  reply: FastifyReply,
  asAttachment: boolean,
): Promise<object | FastifyReply> {
  const infos = await attachments.infos(place);
  if (isDirectory(place)) return infos;
  const info = one(infos);
  const { size } = info;
  const etag = `"${info.hasha.replace(';', '-')}"`;
  const modified = new Date(info.mtime);
  const name = info.filename === '' ? info.name : info.filename;
  reply.headers({
    etag,
    'last-modified': modified.toUTCString(),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
  });
  if (isUnchanged(request.headers, etag, modified)) return reply.code(304).send();
  const applies = rangeApplies(request.headers['if-range'], etag, modified);
  const range = applies ? parseRange(request.headers.range, size) : undefined;
  if (range === 'unsatisfiable') {
    throw new RestError('RANGE_NOT_SATISFIABLE', { size }, { 'content-range': `bytes */${size}` });
  }
  if (asAttachment) reply.header('content-disposition', attachment(name));
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  reply
    .type(asAttachment ? 'application/octet-stream' : contentTypeOf(info.name, info.filename))
    .header('content-length', range === undefined ? size : range.end - range.start + 1)
    // An uploaded page must not run with the rights of its viewer.
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (request.method === 'HEAD') return reply.send(new PassThrough().end());
  return reply.send(await content(attachments, info, range));
}

async function content(attachments: Attachments, info: AttachmentInfo, range: ByteRange | undefined) {
  // An empty file has no range, and needs no store.
  if (info.size === 0) return new PassThrough().end();
  return await attachments.open(info, range);
}

/** POST and PUT: stores the uploaded files and answers their metadata. */
export async function upload(
  attachments: Attachments,
  place: AttachmentPlace,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<object> {
  const directory = isDirectory(place);
  // Before a byte is read, to save an upload without a place.
  await place.collection.read(place.id, { date: place.date, mask: 'id' });
  let uploads: readonly Upload[] = [];
  try {
    uploads = await receiveFiles(request, attachments);
    if (!directory && uploads.length > 1) throw badParameter('body', 'holds several files; one can be here');
    if (directory) checkNames(await attachments.infos(place), uploads);
    const files = uploads.map(({ received, filename }) => ({
      received,
      filename: filename === '' ? (place.fileName ?? '') : filename,
    }));
    const infos = await attachments.place(place, files, { isNew: directory });
    return infos.length === 1 ? one(infos) : infos;
  } catch (error) {
    await discardAll(attachments, uploads);
    // The rest of the upload is not read.
    if (!request.raw.complete) reply.header('connection', 'close');
    throw error;
  }
}

/** Requires a unique name for every file. @throws RestError 400/1400, ConflictError */
function checkNames(present: readonly AttachmentInfo[], uploads: readonly Upload[]): void {
  const taken = new Set(present.map(({ name }) => name));
  for (const { filename } of uploads) {
    if (filename === '') throw badParameter('filename', 'is missing in Content-Disposition');
    if (taken.has(filename)) throw new ConflictError('name');
    taken.add(filename);
  }
}

function one(infos: readonly AttachmentInfo[]): AttachmentInfo {
  const [info] = infos;
  if (info === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Attachment' });
  return info;
}
