/** Files of prompts: uploading, replacing and reading them. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { PromptFile } from '../../runtime/domain/index.ts';
import { CONTENT_TYPES, SoundError } from '../../runtime/prompts/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { attachment } from '../content-disposition.ts';
import type { PromptFiles } from '../deps.ts';
import type { PromptResource } from '../domain-center/prompt-resource.ts';
import { badParameter, RestError } from '../errors.ts';
import { discardAll, receiveBody, receiveForm, type Upload } from '../model/uploads.ts';
import { ID } from '../route-names.ts';
import { sendRange } from './send-range.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

/** Types of uploads. What a file is, its content says. */
const TYPES = ['audio/*', 'application/octet-stream', 'multipart/form-data'];
const ALLOWED = 'WAV, MP3, Opus in Ogg or FLAC, as audio/*, application/octet-stream or multipart/form-data';
const IS_BYTES = /^\s*(?:audio\/[\w.+-]+|application\/ogg|application\/octet-stream)\s*(?:;|$)/i;
/** Ending of a file name. */
const ENDING = /\.[A-Za-z0-9]{1,8}$/;

const NewPrompt = Type.Object({
  name: Type.Optional(Type.String({ description: 'The name in scenarios; default: the file’s, without its ending' })),
  language: Type.Optional(Type.String({ description: 'Language tag; default: for every language' })),
  domain_id: Type.Optional(Type.String({ description: 'Default: the domain of the session' })),
});
type NewPrompt = Static<typeof NewPrompt>;
const FIELDS = Object.keys(NewPrompt.properties);

const FileQuery = Type.Object({
  attachment: Type.Optional(Type.Boolean({ description: 'As a download under the name of the file' })),
  wav: Type.Optional(Type.Boolean({ description: 'What callers hear: WAV at 8 kHz' })),
});

/** Stands for the file in a check of the other fields, before the upload is read. */
const NO_FILE = new PromptFile({
  kind: 'wav',
  filename: '',
  size: 0,
  milliseconds: 0,
  mtime: 0,
  hasha: '',
  wav_hasha: '',
});

export interface PromptRoutesDeps {
  readonly resource: PromptResource;
  readonly prompts: PromptFiles;
}

/** @param path of the collection */
export async function promptRoutes(app: App, path: string, { resource, prompts }: PromptRoutesDeps): Promise<void> {
  const one = `${path}/${ID}/file`;
  const Prompt = resource.schema;
  const errors = { 400: ErrorAnswer, 403: ErrorAnswer, 404: ErrorAnswer, 409: ErrorAnswer };
  const refused = { 413: ErrorAnswer, 415: ErrorAnswer, 422: ErrorAnswer };

  app.get(
    one,
    {
      schema: {
        description: 'The file as it was uploaded, or what callers hear.',
        params: IdPath,
        querystring: FileQuery,
        produces: Object.values(CONTENT_TYPES),
        response: answers({ 404: ErrorAnswer }),
      },
    },
    async (request, reply) => {
      const prompt = await resource.existing(sessionOf(request), request.params.id);
      const { wav = false, attachment: asAttachment = false } = request.query;
      if (asAttachment) reply.header('content-disposition', attachment(wav ? `${prompt.id}.wav` : prompt.filename));
      reply.type(CONTENT_TYPES[wav ? 'wav' : prompt.kind]);
      if (wav) {
        const file = await prompts.wavOf(prompt);
        const { size: bytes } = await stat(file);
        return sendRange(reply, request.headers.range, {
          bytes,
          stream: (start, end) => createReadStream(file, { start, end }),
        });
      }
      reply.header('etag', `"${prompt.hasha.replace(';', '-')}"`).header('content-length', prompt.size);
      return reply.send(await prompts.read(prompt));
    },
  );

  await app.register(async (uploads: App) => {
    // Files are not read into memory.
    uploads.removeAllContentTypeParsers();
    await uploads.register(multipart);
    uploads.addContentTypeParser(IS_BYTES, (_request, payload, done) => done(null, payload));
    uploads.addContentTypeParser('*', (_request, _payload, done) => done(unsupported('content-type')));

    uploads.post(
      path,
      {
        schema: {
          description:
            'Uploads a prompt: the body is the file, with its name and language in the query; or a form with one file and these fields. The answer waits until the file is converted.',
          querystring: NewPrompt,
          consumes: TYPES,
          response: answers({ 200: Type.Partial(Prompt), ...errors, ...refused }),
        },
      },
      async (request, reply) => {
        const session = sessionOf(request);
        // Before a byte is read, when the name is known.
        if (request.query.name !== undefined) await resource.checkNew(session, request.query, NO_FILE);
        return whileReceiving(prompts, request, reply, async ({ filename, ...upload }, sent) => {
          const given = { ...request.query, ...sent };
          const name = given.name ?? filename.replace(ENDING, '');
          if (name === '') throw badParameter('name', 'is missing, and the file has no name');
          const fields = { ...given, name };
          await resource.checkNew(session, fields, NO_FILE);
          const file = await converted(prompts, upload, filename);
          return resource.shown(await resource.create(session, { ...fields, file }));
        });
      },
    );

    uploads.put(
      one,
      {
        schema: {
          description: 'Replaces the file of a prompt. Calls that hear the former one hear it to its end.',
          params: IdPath,
          consumes: TYPES,
          response: answers({ 200: Type.Partial(Prompt), ...errors, ...refused }),
        },
      },
      async (request, reply) => {
        const session = sessionOf(request);
        const { id } = await resource.existing(session, request.params.id);
        return whileReceiving(prompts, request, reply, async ({ filename, ...upload }, sent) => {
          const [field] = Object.keys(sent);
          if (field !== undefined) throw badParameter(field, 'is changed by PATCH of the prompt');
          const file = await converted(prompts, upload, filename);
          return resource.shown(await resource.update(session, id, { file }));
        });
      },
    );
  });
}

/** Receives the only file of a request. It is discarded unless `use` has stored it. @throws RestError */
async function whileReceiving<T>(
  prompts: PromptFiles,
  request: FastifyRequest,
  reply: FastifyReply,
  use: (upload: Upload, fields: NewPrompt) => Promise<T>,
): Promise<T> {
  let uploads: readonly Upload[] = [];
  try {
    const announced = Number(request.headers['content-length'] ?? 0);
    // A form has little beside its file.
    if (announced > prompts.limit + (request.isMultipart() ? 65_536 : 0)) throw tooLarge(prompts);
    const form = await received(prompts, request);
    ({ uploads } = form);
    const [upload, another] = uploads;
    if (upload === undefined)
      throw badParameter('file', 'is missing; send the file as the body, or as a part of a form');
    if (another !== undefined) throw badParameter('file', 'is there twice; a prompt has one file');
    const unknown = Object.keys(form.fields).find((name) => !FIELDS.includes(name));
    if (unknown !== undefined) throw badParameter(unknown, `is not known; a form has file, ${FIELDS.join(', ')}`);
    return await use(upload, form.fields);
  } catch (error) {
    await discardAll(prompts, uploads);
    // The rest of the upload is not read.
    if (!request.raw.complete) reply.header('connection', 'close');
    throw error instanceof RestError && error.id === 'BODY_TOO_LARGE' ? tooLarge(prompts) : error;
  }
}

async function received(
  prompts: PromptFiles,
  request: FastifyRequest,
): Promise<{ readonly uploads: readonly Upload[]; readonly fields: Readonly<Record<string, string>> }> {
  if (request.isMultipart()) return receiveForm(request, prompts);
  if (!(request.body instanceof Readable)) throw unsupported('content-type');
  return { uploads: [await receiveBody(request, prompts)], fields: {} };
}

/** @throws RestError 415/1415 for another kind of file, 422/1405 for one that cannot be played, 503/1503 */
async function converted(
  prompts: PromptFiles,
  { received: blob }: Pick<Upload, 'received'>,
  filename: string,
): Promise<PromptFile> {
  try {
    return await prompts.fileOf(blob, filename);
  } catch (error) {
    if (!(error instanceof SoundError)) throw error;
    if (error.fault === 'unknown_kind') throw unsupported('file');
    if (error.fault === 'busy') throw new RestError('UNAVAILABLE', { reason: `the file ${error.message}` });
    throw new RestError('CANNOT_APPLY', { field: 'file', reason: error.message });
  }
}

function unsupported(field: string): RestError {
  const details = { field, reason: 'is no sound file that can be played', allowed: ALLOWED };
  return new RestError('UNSUPPORTED_MEDIA_TYPE', details, { connection: 'close' });
}

/** 413/1506; the rest of the upload is not waited for. */
function tooLarge({ limit }: PromptFiles): RestError {
  return new RestError('BODY_TOO_LARGE', { field: 'file', limit }, { connection: 'close' });
}
