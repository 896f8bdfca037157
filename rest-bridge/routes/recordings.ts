/** Routes of recorded calls. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { MAX_LIST, type RecordQuery, type RecordRow } from '../../runtime/recording/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import { attachment } from '../content-disposition.ts';
import type { RestDeps } from '../deps.ts';
import { scopeOf } from '../domain-scope.ts';
import { badParameter, RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { sendRange } from './send-range.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';

const PATH = '/domain/recordings';
const NAME = 'Recording';

/** Metadata of the file (specification, "Attachment metadata"); null until it is saved. */
const FileMetadata = Type.Union([
  Type.Object({
    hasha: Type.String({ description: '`sha256;<HEX>`' }),
    link: Type.String(),
    mtime: Type.String({ description: 'ISO 8601, UTC' }),
    name: Type.String(),
    size: Type.Integer({ description: 'Octets' }),
  }),
  Type.Null(),
]);

const Recording = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  idconn: Type.String({ description: '`connectionid` of the call events' }),
  inviteid: Type.String(),
  dialogid: Type.String(),
  layer: Type.String({ description: 'Empty: the main recording; else the layer of SETUP_RECORD' }),
  rule_id: Type.String({ description: 'The rule that wanted it; empty: an operation did' }),
  status: Type.Enum(['recording', 'saved', 'failed']),
  reason: Type.String({ description: 'Why it failed' }),
  startts: Type.Integer({ description: 'Milliseconds since the epoch' }),
  endts: Type.Integer({ description: 'Milliseconds since the epoch; 0 until it is complete' }),
  length: Type.Integer({ description: 'Milliseconds of sound' }),
  size: Type.Integer({ description: 'Octets of the file' }),
  sha256: Type.String(),
  reclink: Type.String({ description: 'Where it is, as TRANSCRIBE takes it' }),
  parties: Type.Array(
    Type.Object({
      side: Type.Optional(Type.Enum(['a', 'b'], { description: 'Absent in a conference' })),
      channel: Type.Optional(
        Type.Integer({
          description:
            'Of the file: 0 is left; absent in a conference, which has one, and of a side that is not recorded',
        }),
      ),
      number: Type.String(),
      login: Type.String(),
      domain: Type.String(),
      uri: Type.String(),
    }),
  ),
  asr_status: Type.Enum(['', 'queued', 'running', 'done', 'failed']),
  transcript: Type.Object({}, { additionalProperties: true, description: 'What TRANSCRIBE made of it' }),
  file: FileMetadata,
});

const FIELDS: ResourceType = { fields: Object.keys(Recording.properties), aliases: {}, types: new Map() };

const FileQuery = Type.Object({
  attachment: Type.Optional(Type.Boolean({ description: 'As a download under the name of the file' })),
});

type RecordingDeps = Pick<RestDeps, 'recordings' | 'directory'>;

/** Body of LOOKUP: the first given key counts. */
const RecordingLookup = Type.Object(
  {
    idconn: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'Of the call.' })),
    reclink: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'Of the file.' })),
  },
  { additionalProperties: false },
);

/** The archive of recorded calls: list, read, LOOKUP, file, delete. Recordings of other domains do not exist. */
export function recordingRoutes(app: App, deps: RecordingDeps): void {
  const { archive, store } = deps.recordings;
  const visible = async (request: FastifyRequest, id: string): Promise<RecordRow> => {
    const row = await archive.read(id);
    if (row === undefined || !domainsOf(deps, request).includes(row.domain_id)) throw notFound();
    return row;
  };

  app.get(
    PATH,
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Type.Partial(Recording)), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => {
      const { countonly, limit, offset, mask, flat } = request.query;
      const query: RecordQuery = {
        domains: domainsOf(deps, request),
        ...jsonOf('filter', request.query),
        ...jsonOf('order', request.query),
        limit: limit ?? MAX_LIST,
        offset: offset ?? 0,
      };
      if (countonly === true || limit === 0) return { count: await archive.count(query) };
      const shape = { ...(mask === undefined ? {} : { mask }), ...(flat === undefined ? {} : { flat }) };
      return (await archive.list(query)).map((row) => answerRead(FIELDS, shown(row), shape));
    },
  );

  app.get(
    `${PATH}/${ID}`,
    {
      schema: {
        params: IdPath,
        querystring: ReadQuery,
        response: answers({ 200: Type.Partial(Recording), 404: ErrorAnswer }),
      },
    },
    async (request) => answerRead(FIELDS, shown(await visible(request, request.params.id)), request.query),
  );

  app.post(
    `${PATH}!lookup`,
    {
      schema: {
        body: RecordingLookup,
        response: answers({ 200: Type.Array(Type.String()), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const { idconn, reclink } = request.body;
      const key = idconn === undefined ? 'reclink' : 'idconn';
      const value = idconn ?? reclink;
      if (value === undefined) throw badParameter('idconn', 'name the recording by idconn or reclink');
      const filter = ['==', ['property', key], value];
      const rows = await archive.list({ domains: domainsOf(deps, request), filter });
      if (rows.length === 0) throw notFound();
      return rows.map(({ id }) => id);
    },
  );

  app.get(
    `${PATH}/${ID}/file`,
    { schema: { params: IdPath, querystring: FileQuery, response: answers({ 404: ErrorAnswer }) } },
    async (request, reply) => {
      const row = await visible(request, request.params.id);
      const file = await store.read(row.reclink);
      if (file === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'File' });
      if (request.query.attachment === true) reply.header('content-disposition', attachment(nameOf(row)));
      reply.type(request.query.attachment === true ? 'application/octet-stream' : 'audio/wav');
      reply.header('etag', `"${row.sha256}"`);
      return sendRange(reply, request.headers.range, file);
    },
  );

  app.delete(
    `${PATH}/${ID}`,
    { schema: { params: IdPath, response: answers({ 204: NoContent, 404: ErrorAnswer, 409: ErrorAnswer }) } },
    async (request, reply) => {
      const row = await visible(request, request.params.id);
      if (row.status === 'recording') throw new RestError('CONFLICT', { reason: 'the call is still recorded' });
      await store.remove(row.reclink);
      await archive.remove(row.id);
      return reply.code(204).send();
    },
  );
}

function domainsOf({ directory }: RecordingDeps, request: FastifyRequest): readonly string[] {
  return [...scopeOf(directory, sessionOf(request)).visible];
}

function notFound(): RestError {
  return new RestError('ENTITY_NOT_FOUND', { entity: NAME });
}

function nameOf({ id }: RecordRow): string {
  return `${id}.wav`;
}

function shown(row: RecordRow): object {
  const { sha256, reclink, endts, size, status } = row;
  const file =
    status === 'saved'
      ? {
          hasha: `sha256;${sha256.toUpperCase()}`,
          link: reclink,
          mtime: new Date(endts).toISOString(),
          name: nameOf(row),
          size,
        }
      : null;
  return { ...row, file };
}

function jsonOf<Name extends 'filter' | 'order'>(
  name: Name,
  query: Static<typeof ListQuery>,
): { readonly [key in Name]?: unknown } {
  const text = query[name];
  if (text === undefined) return {};
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key loses its type
    return { [name]: JSON.parse(text) as unknown } as { [key in Name]?: unknown };
  } catch {
    throw badParameter(name, 'is not JSON');
  }
}
