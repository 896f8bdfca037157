import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { DomainName } from '../../runtime/domain-name/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { attachment } from '../content-disposition.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { sendRange } from './send-range.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';

const PATH = `/api/recordings/${ID}`;

const FileQuery = Type.Object({
  attachment: Type.Optional(Type.Boolean({ description: 'As a download under the name of the file' })),
});

/** Recordings made by scenarios of the session's domain (`record`), by name: reading and removing the WAV file. */
export function scenarioRecordingRoutes(app: App, { scenarioRecordings }: Pick<RestDeps, 'scenarioRecordings'>): void {
  app.get(
    PATH,
    { schema: { params: IdPath, querystring: FileQuery, response: answers({ 404: ErrorAnswer }) } },
    async (request, reply) => {
      const name = nameOf(request.params.id);
      const file = scenarioRecordings.find(domainOf(request), name);
      if (file === undefined) throw notFound();
      const { size: bytes } = await stat(file);
      reply.header('content-type', 'audio/wav');
      if (request.query.attachment === true) reply.header('content-disposition', attachment(name));
      return sendRange(reply, request.headers.range, {
        bytes,
        stream: (start, end) => createReadStream(file, { start, end }),
      });
    },
  );

  app.delete(
    PATH,
    { schema: { params: IdPath, response: answers({ 204: NoContent, 404: ErrorAnswer }) } },
    async (request, reply) => {
      if (!(await scenarioRecordings.remove(domainOf(request), nameOf(request.params.id)))) throw notFound();
      return reply.code(204).send();
    },
  );
}

/** The name in scenarios: `recording:NAME`. */
function nameOf(id: string): string {
  return id.replace(/^recording:/, '');
}

function domainOf(request: FastifyRequest): DomainName {
  return sessionOf(request).domain;
}

function notFound(): RestError {
  return new RestError('ENTITY_NOT_FOUND', { entity: 'Recording' });
}
