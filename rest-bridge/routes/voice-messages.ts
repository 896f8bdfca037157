/** Routes of the voice messages in mailboxes. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { fieldTypes } from '../../runtime/model/index.ts';
import type { VoiceMessageRow } from '../../runtime/voicemail/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import { attachment } from '../content-disposition.ts';
import type { RestDeps } from '../deps.ts';
import { scopeOf } from '../domain-scope.ts';
import { RestError } from '../errors.ts';
import { parseRange } from '../http/byte-range.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';

const Message = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  mailbox: Type.String({ description: 'Number of its owner, or the name of the mailbox' }),
  number: Type.String({ description: 'Of the caller' }),
  name: Type.String({ description: 'Of the caller; may be empty' }),
  ts: Type.Integer({ description: 'Milliseconds since the epoch' }),
  heard: Type.Boolean({ description: 'False: new' }),
  heardts: Type.Integer({ description: 'Milliseconds since the epoch; 0: new' }),
  milliseconds: Type.Integer({ description: 'How long it is' }),
  size: Type.Integer({ description: 'Octets of the WAV file' }),
});
const MESSAGE: ResourceType = { fields: Object.keys(Message.properties), aliases: {}, types: fieldTypes(Message) };

const Change = Type.Object(
  { heard: Type.Boolean({ description: 'False makes it new again' }) },
  { additionalProperties: false },
);
const FileQuery = Type.Object({
  attachment: Type.Optional(Type.Boolean({ description: 'As a download under the name of the file' })),
});

/** The two paths: all messages of the administered domains, and those in mailboxes of the user's own sipusers. */
const PATHS = [
  { base: '/domain/voicemessages', own: false },
  { base: '/user/sip/voicemessages', own: true },
] as const;

type Deps = Pick<RestDeps, 'voicemail' | 'directory'>;

export function voiceMessageRoutes(app: App, { voicemail, directory }: Deps): void {
  for (const { base, own } of PATHS) {
    const visible = async (request: FastifyRequest): Promise<readonly VoiceMessageRow[]> => {
      const session = sessionOf(request);
      if (!own) return voicemail.list([...scopeOf(directory, session).visible]);
      const domain = directory.domain(session.domain)?.id;
      if (domain === undefined) return [];
      const numbers = directory.sipUsersOfUser(session.userId).map(({ phonenumber }) => phonenumber);
      return (await Promise.all(numbers.map((number) => voicemail.list([domain], number)))).flat();
    };
    /** @throws RestError 404/1404, also for those of others */
    const one = async (request: FastifyRequest, id: string): Promise<VoiceMessageRow> => {
      const row = await voicemail.read(id);
      if (row === undefined || !isVisible(request, row)) throw notFound('Message');
      return row;
    };
    const isVisible = (request: FastifyRequest, { domain_id: domain, mailbox }: VoiceMessageRow): boolean => {
      const session = sessionOf(request);
      if (!own) return scopeOf(directory, session).visible.has(domain);
      if (directory.domain(session.domain)?.id !== domain) return false;
      return directory.sipUsersOfUser(session.userId).some(({ phonenumber }) => phonenumber === mailbox);
    };
    const view = (row: VoiceMessageRow): Static<typeof Message> => {
      const { id, domain_id: domainId, mailbox, number, name, created: ts, heard, milliseconds, size } = row;
      const domain = directory.domains().find((each) => each.id === domainId)?.name ?? '';
      return { id, domain, mailbox, number, name, ts, heard: heard > 0, heardts: heard, milliseconds, size };
    };

    app.get(
      base,
      {
        schema: {
          querystring: ListQuery,
          response: answers({ 200: Type.Union([Type.Array(Type.Partial(Message)), Count]), 400: ErrorAnswer }),
        },
      },
      async (request) => answerList(MESSAGE, (await visible(request)).map(view), request.query),
    );

    app.get(
      `${base}/${ID}`,
      {
        schema: {
          params: IdPath,
          querystring: ReadQuery,
          response: answers({ 200: Type.Partial(Message), 404: ErrorAnswer }),
        },
      },
      async (request) => answerRead(MESSAGE, view(await one(request, request.params.id)), request.query),
    );

    app.patch(
      `${base}/${ID}`,
      {
        schema: {
          summary: 'Makes a message heard, or new',
          params: IdPath,
          body: Change,
          response: answers({ 200: Message, 400: ErrorAnswer, 404: ErrorAnswer }),
        },
      },
      async (request) => {
        const { id } = await one(request, request.params.id);
        if (!(await voicemail.mark(await one(request, id), request.body.heard))) throw notFound('Message');
        return view(await one(request, id));
      },
    );

    app.delete(
      `${base}/${ID}`,
      { schema: { params: IdPath, response: answers({ 204: NoContent, 404: ErrorAnswer }) } },
      async (request, reply) => {
        const { id } = await one(request, request.params.id);
        if (!(await voicemail.remove(id))) throw notFound('Message');
        return reply.code(204).send();
      },
    );

    app.get(
      `${base}/${ID}/file`,
      { schema: { params: IdPath, querystring: FileQuery, response: answers({ 404: ErrorAnswer }) } },
      async (request, reply) => {
        const { id, size, hasha } = await one(request, request.params.id);
        const range = parseRange(request.headers.range, size);
        reply.header('accept-ranges', 'bytes').type('audio/wav');
        if (request.query.attachment === true) reply.header('content-disposition', attachment(`${id}.wav`));
        if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${size}`).send();
        const { start, end } = range ?? { start: 0, end: size - 1 };
        const content = await voicemail.content(hasha, start, end);
        if (content === undefined) throw notFound('File');
        if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
        return reply.header('content-length', end - start + 1).send(content);
      },
    );
  }
}

function notFound(entity: string): RestError {
  return new RestError('ENTITY_NOT_FOUND', { entity });
}
