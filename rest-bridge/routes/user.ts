/** Routes of the user's own avatar. */
import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Accounts, type Avatars, BlobTooLargeError, MAX_AVATAR_BYTES } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { attachment } from '../content-disposition.ts';
import { badParameter, RestError } from '../errors.ts';
import { answers, ErrorAnswer, NoContent } from './schemas.ts';

const AvatarInfo = Type.Object({
  name: Type.String(),
  size: Type.Integer(),
  mtime: Type.String(),
  hasha: Type.String(),
  content_type: Type.String(),
});

const UserInfo = Type.Object({
  id: Type.String(),
  login: Type.String(),
  name: Type.String(),
  domain: Type.String(),
  roles: Type.Array(Type.String()),
  avatar_info: Type.Union([AvatarInfo, Type.Literal(false)]),
});

/** Multipart overhead: boundaries, part headers, and other parts. */
const MULTIPART_OVERHEAD = 16_384;
const AVATAR = '/user/avatar';

interface UserDeps {
  readonly accounts: Accounts;
  readonly avatars: Avatars;
}

/** The user's own pages (specification, "User avatar"). */
export async function userRoutes(app: App, { accounts, avatars }: UserDeps): Promise<void> {
  const everyUser = { everyUser: true };

  app.get('/user/info', { config: everyUser, schema: { response: answers({ 200: UserInfo }) } }, async (request) => {
    const { userId, domain } = sessionOf(request);
    const user = await accounts.user(userId);
    if (user === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'User' });
    const { id, login, name, roles, avatar } = user;
    return { id, login, name, domain, roles: [...roles], avatar_info: avatar };
  });

  app.get(
    AVATAR,
    {
      config: everyUser,
      schema: {
        querystring: Type.Object({ attachment: Type.Optional(Type.Boolean()) }),
        response: answers({ 404: ErrorAnswer }),
        produces: ['image/*', 'application/octet-stream'],
      },
    },
    async (request, reply) => {
      const avatar = await avatars.read(sessionOf(request).userId);
      if (avatar === undefined) throw avatarNotFound();
      const { name, size, content_type } = avatar.info;
      if (request.query.attachment) reply.header('content-disposition', attachment(name));
      return reply
        .type(request.query.attachment ? 'application/octet-stream' : content_type)
        .header('content-length', size)
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
        .send(avatar.content);
    },
  );

  app.delete(
    AVATAR,
    { config: everyUser, schema: { response: answers({ 204: NoContent, 404: ErrorAnswer }) } },
    async (request, reply) => {
      if (!(await avatars.remove(sessionOf(request).userId))) throw avatarNotFound();
      return reply.code(204).send();
    },
  );

  await app.register(async (uploads: App) => {
    uploads.removeAllContentTypeParsers();
    await uploads.register(multipart);
    uploads.addContentTypeParser('*', (_request, _body, done) => {
      done(new RestError('UNSUPPORTED_MEDIA_TYPE', { allowed: 'multipart/form-data with one file part' }));
    });
    const response = answers({ 204: NoContent, 400: ErrorAnswer, 413: ErrorAnswer, 415: ErrorAnswer });
    uploads.put(
      AVATAR,
      { config: everyUser, schema: { response, consumes: ['multipart/form-data'] }, onRequest: refuseTooLong },
      async (request, reply) => {
        await receiveAvatar(avatars, request, reply);
        return reply.code(204).send();
      },
    );
  });
}

function avatarNotFound(): RestError {
  return new RestError('ENTITY_NOT_FOUND', { entity: 'Avatar' });
}

/** 413/1506; the rest of the upload is not waited for. */
function tooLarge(): RestError {
  return new RestError('BODY_TOO_LARGE', { limit: MAX_AVATAR_BYTES }, { connection: 'close' });
}

/** Refuses a declared length over the limit before reading. */
async function refuseTooLong({ headers }: FastifyRequest): Promise<void> {
  if (Number(headers['content-length'] ?? 0) > MAX_AVATAR_BYTES + MULTIPART_OVERHEAD) throw tooLarge();
}

async function receiveAvatar(avatars: Avatars, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { userId } = sessionOf(request);
  if (!request.isMultipart()) throw badParameter('body', 'is missing; send multipart/form-data with one file part');
  try {
    const { name, content } = await onlyFile(request);
    await avatars.write(userId, name, content);
  } catch (error) {
    // The rest of the upload is not read.
    reply.header('connection', 'close');
    throw uploadError(error);
  }
}

/** The only file of a form, held in memory: a large one is refused while it arrives. */
async function onlyFile(request: FastifyRequest): Promise<{ readonly name: string; readonly content: Readable }> {
  const limits = { files: 2, fields: 16, fieldSize: MULTIPART_OVERHEAD, parts: 18, headerPairs: 64 };
  let found: { readonly name: string; readonly content: Readable } | undefined;
  for await (const part of request.parts({ limits: { ...limits, fileSize: MAX_AVATAR_BYTES + 1 } })) {
    if (part.type !== 'file') continue;
    if (found !== undefined) throw badParameter('file', 'is there twice; send one part with a filename');
    found = { name: plainName(part.filename ?? ''), content: await received(part.file) };
  }
  if (found === undefined) throw badParameter('file', 'is missing; send one part with a filename');
  return found;
}

async function received(file: AsyncIterable<Buffer>): Promise<Readable> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of file) {
    size += chunk.length;
    if (size > MAX_AVATAR_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Readable.from(chunks);
}

/** The last part of a path, without control characters, as it will stand in a header. */
function plainName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  const plain = last
    .replaceAll(/\p{Cc}/gu, '')
    .toWellFormed()
    .slice(0, 255);
  return plain === '' ? 'avatar' : plain;
}

function uploadError(error: unknown): unknown {
  if (error instanceof BlobTooLargeError) return tooLarge();
  if (error instanceof RestError || !(error instanceof Error)) return error;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge();
  const multipartFault = typeof code === 'string' && /^FST_(?:FILES|FIELDS|PARTS|PROTO|INVALID_MULTIPART)/.test(code);
  if (multipartFault || /^(?:Unexpected end|Malformed|Multipart:|Premature close|The needle)/.test(error.message)) {
    return badParameter('body', `is not the multipart form of one file: ${error.message}`);
  }
  return error;
}
