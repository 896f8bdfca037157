/** Receives the files of requests: `application/octet-stream`, or parts of `multipart/form-data`. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { type Attachments, BlobTooLargeError, checkDigest, plainName } from '../../runtime/model/index.ts';
import { badParameter, RestError } from '../errors.ts';

/** An uploaded file, hashed and on this node's disk, not yet placed. */
export interface Upload {
  readonly received: Awaited<ReturnType<Attachments['receive']>>;
  /** Its original name; empty when not given. */
  readonly filename: string;
  /** Name of the part; empty for octet-stream. */
  readonly part: string;
}

/** Takes content of files. */
export type FileIntake = Pick<Attachments, 'limit' | 'receive' | 'discard'>;

export interface Form {
  readonly uploads: readonly Upload[];
  /** The texts by the names of their parts. */
  readonly fields: Readonly<Record<string, string>>;
  /** The text of the part `data`. */
  readonly data: string | undefined;
  /** Names of the parts that are texts. */
  readonly texts: readonly string[];
}

const MAX_FILES = 100;
const MAX_FIELD_BYTES = 1024 * 1024;
/** Allowed types of uploads, for the error 415. */
export const FILE_TYPES = 'application/octet-stream, or multipart/form-data with a filename in each part';

/**
 * Receives the files of a request. The caller places or discards each.
 *
 * @throws RestError 400/1400 without a file, 413/1506, 415/1415, 422/1405 for a wrong Content-Digest
 */
export async function receiveFiles(request: FastifyRequest, attachments: FileIntake): Promise<readonly Upload[]> {
  // A declared length over the limit is refused without reading.
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > (request.isMultipart() ? MAX_FILES * attachments.limit + MAX_FIELD_BYTES : attachments.limit)) {
    throw tooLarge(attachments);
  }
  if (request.isMultipart()) {
    const { uploads } = await receiveForm(request, attachments);
    if (uploads.length === 0) throw badParameter('file', 'is missing; send a part with a filename');
    return uploads;
  }
  if (!isOctetStream(request)) throw new RestError('UNSUPPORTED_MEDIA_TYPE', { allowed: FILE_TYPES });
  return [await receiveBody(request, attachments)];
}

/** Receives a body that is a file, and a stream for its parser. @throws RestError as receiveFiles */
export async function receiveBody(request: FastifyRequest, attachments: FileIntake): Promise<Upload> {
  const digest = digestOf(request);
  const received = await take(attachments, streamOf(request));
  try {
    checkDigest(received.hasha, digest);
  } catch (error) {
    await attachments.discard(received);
    throw error;
  }
  return { received, filename: dispositionName(request.headers['content-disposition']), part: '' };
}

/** Receives a whole form. @throws RestError as receiveFiles */
export async function receiveForm(request: FastifyRequest, attachments: FileIntake): Promise<Form> {
  const uploads: Upload[] = [];
  const digest = digestOf(request);
  const whole = createHash('sha256');
  if (digest !== undefined) request.raw.on('data', (chunk: Uint8Array) => whole.update(chunk));
  let data: string | undefined;
  const texts: string[] = [];
  const fields: Record<string, string> = {};
  try {
    const limits = {
      files: MAX_FILES,
      fields: 16,
      parts: MAX_FILES + 16,
      fieldSize: MAX_FIELD_BYTES,
      headerPairs: 64,
      // One byte more, so that the store detects a too large file.
      fileSize: attachments.limit + 1,
    };
    for await (const part of request.parts({ limits })) {
      if (part.type === 'file') {
        const received = await take(attachments, part.file);
        uploads.push({ received, filename: plainName(part.filename ?? ''), part: part.fieldname });
      } else {
        texts.push(part.fieldname);
        fields[part.fieldname] = textOf(part.value);
        if (part.fieldname === 'data') data = textOf(part.value);
      }
    }
    // The digest covers the body as it is (RFC 9530 section 2); many clients send that of the only file instead.
    const [only] = uploads;
    if (digest !== undefined && only?.received.hasha !== digest) {
      checkDigest(`sha256;${whole.digest('hex').toUpperCase()}`, digest);
    }
    return { uploads, data, texts, fields };
  } catch (error) {
    await discardAll(attachments, uploads);
    throw formError(error, attachments);
  }
}

export async function discardAll(attachments: Pick<FileIntake, 'discard'>, uploads: readonly Upload[]): Promise<void> {
  await Promise.all(uploads.map(({ received }) => attachments.discard(received)));
}

export function isOctetStream({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/octet-stream';
}

/** The text of a field. A part of type JSON was parsed already. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The body of an octet-stream request, which its parser leaves alone. */
export function streamOf({ body }: FastifyRequest): Readable {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the parser of routes.ts gives
  return body as Readable;
}

async function take(attachments: FileIntake, content: Readable): Promise<Upload['received']> {
  try {
    return await attachments.receive(content);
  } catch (error) {
    throw error instanceof BlobTooLargeError ? tooLarge(attachments) : error;
  }
}

/** 413/1506; the rest of the upload is not waited for. */
function tooLarge({ limit }: FileIntake): RestError {
  return new RestError('BODY_TOO_LARGE', { limit }, { connection: 'close' });
}

function formError(error: unknown, attachments: FileIntake): unknown {
  if (error instanceof RestError || !(error instanceof Error)) return error;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge(attachments);
  const isFault =
    typeof code === 'string' && /^FST_(?:FILES|FIELDS|PARTS|PROTO|INVALID_MULTIPART|INVALID_JSON)/.test(code);
  if (isFault || /^(?:Unexpected end|Malformed|Multipart:|Premature close|The needle)/.test(error.message)) {
    return badParameter('body', `is no multipart form that can be read: ${error.message}`);
  }
  return error;
}

const DIGEST = /(?:^|,)\s*sha-256\s*=\s*:([A-Za-z0-9+/]{43}=):\s*(?=,|$)/i;

/**
 * The SHA-256 of a Content-Digest (RFC 9530 section 2) as `sha256;<HEX>`; other algorithms beside it are not checked.
 *
 * @throws RestError 422/1405 for a header without a readable SHA-256, because the sender wants a check
 */
function digestOf({ headers }: FastifyRequest): string | undefined {
  const { 'content-digest': header } = headers;
  if (typeof header !== 'string') return undefined;
  const base64 = DIGEST.exec(header)?.[1];
  if (base64 !== undefined) return `sha256;${Buffer.from(base64, 'base64').toString('hex').toUpperCase()}`;
  const reason = 'must hold sha-256=:<base64>:, the only algorithm that is checked';
  throw new RestError('CANNOT_APPLY', { field: 'content-digest', reason });
}

/** RFC 8187 section 3.2.1: the language between the quotes may be left out. */
const EXTENDED_NAME = /;\s*filename\*\s*=\s*utf-8'[^';\s]*'([^;\s]+)/i;
const QUOTED_NAME = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i;
const PLAIN_NAME = /;\s*filename\s*=\s*([^";\s]+)/i;

/** The file name of a Content-Disposition header (RFC 6266); bytes beyond ASCII are taken as UTF-8. */
function dispositionName(header: string | undefined): string {
  if (header === undefined) return '';
  const extended = EXTENDED_NAME.exec(header)?.[1];
  if (extended !== undefined) {
    try {
      return plainName(decodeURIComponent(extended));
    } catch {
      // Invalid encoding: the plain form of the name is used.
    }
  }
  const name = QUOTED_NAME.exec(header)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? PLAIN_NAME.exec(header)?.[1] ?? '';
  return plainName(Buffer.from(name, 'latin1').toString('utf8'));
}
