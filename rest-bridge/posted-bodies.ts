/** Reads bodies of two further types: multipart with the JSON in the part `data`, and the JSON as octet-stream. */
import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import type { App } from './app.ts';
import { jsonParser, unknownPart } from './bodies.ts';
import { badParameter, RestError } from './errors.ts';

const ALLOWED = 'application/json, or application/x-www-form-urlencoded with the JSON in parameter data';

/** Reads the four content types that POST takes (specification, "Generic REST operations", rule 5); PATCH takes two. */
export function readAllBodies(app: App): void {
  const parse = jsonParser(app);
  const json = (request: FastifyRequest, text: string, field: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      parse(request, text, field, (error, value) => (error === null ? resolve(value) : reject(error)));
    });

  app.addHook('onRequest', ({ method, headers: { 'content-type': type = '' } }, _reply, done) => {
    const isForPost = /^\s*(?:multipart\/form-data|application\/octet-stream)\b/i.test(type);
    const isRefused = isForPost && method !== 'POST' && method !== 'PUT';
    done(isRefused ? new RestError('UNSUPPORTED_MEDIA_TYPE', { allowed: ALLOWED }) : undefined);
  });
  // The whole body is in memory and within the limit, so it is parsed at once.
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) =>
      json(request, await dataOf(request.headers['content-type'] ?? '', body), 'data'),
  );
  app.addContentTypeParser(
    'application/octet-stream',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (!isUtf8(body)) throw badParameter('body', 'is not UTF-8');
      return body.length === 0 ? undefined : await json(request, body.toString('utf8'), 'body');
    },
  );
}

/** @throws RestError 400/1400 without the part `data`, or with another one */
async function dataOf(type: string, body: Buffer): Promise<string> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw badParameter('body', `is no multipart form that can be read: ${reason}`);
    });
  const data = form.get('data');
  if (typeof data !== 'string') throw badParameter('data', 'is missing; send the JSON in a part of this name');
  const unknown = unknownPart(form.keys());
  if (unknown !== undefined) throw unknown;
  return data;
}
