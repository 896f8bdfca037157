/** The collections of the dynamic data model: `/model/{class_path}` (specification, "Dynamic data model"). */
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Directory } from '../../runtime/domain/directory.ts';
import type { Iam, Session } from '../../runtime/iam/iam.ts';
import { type Input, type Model, NotFoundError } from '../../runtime/model/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { badParameter, RestError } from '../errors.ts';
import { jsonArray } from './json-array.ts';
import { listQuery, ModelGetQuery, WriteQuery } from './query.ts';
import { modelPath, modelRolePath, type ModelTarget, modelTarget } from './target.ts';

export interface ModelDeps {
  readonly iam: Pick<Iam, 'allows'>;
  readonly model: Model;
  readonly directory: Pick<Directory, 'domain'>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of requests below `/model/`: what they are about, once they are authorised. */
    modelTarget: ModelTarget | null;
  }
}

/** Methods of each kind of path, for 405. */
const ALLOW = {
  section: ['GET', 'HEAD'],
  collection: ['GET', 'HEAD', 'POST', 'LOOKUP', 'CLEAR', 'SETUP'],
  entity: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
} as const;

export function modelRoutes(app: App, deps: ModelDeps): void {
  app.decorateRequest('modelTarget', null);
  // Who may do what depends on the path, which the router does not take apart: `authorise` asks.
  const route = { config: { everyUser: true }, onRequest: authorise(deps) };

  app.get('/model/*', { ...route, schema: { querystring: ModelGetQuery } }, async (request, reply) => {
    const { modelTarget: target } = request;
    if (target === null) return children(deps, request);
    const { id, date, collection } = target;
    if (id === undefined) {
      const query = listQuery(request.query, sessionOf(request).id);
      const whole = query.snapshot === '*' ? await collection.whole(query) : undefined;
      if (whole === undefined) return await collection.list(query);
      return reply.type('application/json; charset=utf-8').send(Readable.from(jsonArray(whole)));
    }
    const { mask, flat } = request.query;
    return await collection.read(id, { mask, flat, date });
  });

  app.post('/model/*', route, async (request, reply) => {
    const target = targetOf(request);
    const { suffix } = modelPath(request);
    if (target.id !== undefined) throw notAllowed(request, suffix, 'entity');
    const { collection } = target;
    switch (suffix) {
      case undefined:
        return await collection.create(bodyOf(request));
      case 'lookup':
        return await collection.lookup(bodyOf(request));
      case 'setup':
        return await collection.setup(bodyOf(request));
      case 'clear':
        await collection.clear();
        return reply.code(204).send();
      default:
        throw notAllowed(request, suffix, 'collection');
    }
  });

  app.put('/model/*', route, async (request) => {
    const { collection, id, date } = entityOf(request);
    return await collection.replace(id, bodyOf(request), { date });
  });

  app.patch('/model/*', { ...route, schema: { querystring: WriteQuery } }, async (request) => {
    const { collection, id, date } = entityOf(request);
    return await collection.update(id, bodyOf(request), { date, append: request.query.append });
  });

  app.delete('/model/*', route, async (request, reply) => {
    const { collection, id, date } = entityOf(request);
    await collection.remove(id, { date });
    return reply.code(204).send();
  });

  app.options('/model/*', route, async (request) => {
    throw notAllowed(request, undefined, request.modelTarget?.id === undefined ? 'collection' : 'entity');
  });
}

/** Hook: may this session do this, and is there such a class? Runs before the body is read. */
function authorise({ iam, model, directory }: ModelDeps): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const session = sessionOf(request);
    const path = modelPath(request);
    if (path.isSection) {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed(request, undefined, 'section');
      return;
    }
    const method = path.suffix?.toUpperCase() ?? request.method;
    if (!iam.allows(session, method, modelRolePath(path))) throw new RestError('FORBIDDEN');
    request.modelTarget = modelTarget(model, domainIdOf(directory, session), path);
  };
}

/** Names one level below a path, of the classes that the session may read. */
function children({ iam, model, directory }: ModelDeps, request: FastifyRequest): readonly string[] {
  const session = sessionOf(request);
  const path = modelPath(request);
  const prefix = path.segments.map((each) => `${each}/`).join('');
  const domain = domainIdOf(directory, session);
  const below = model
    .classes(domain)
    .list()
    .filter(({ classname }) => `${classname}/`.startsWith(prefix));
  const visible = below.filter(({ classname }) => iam.allows(session, 'GET', `/model/${classname}`));
  if (visible.length === 0 && path.segments.length > 0) throw new NotFoundError('Class', path.segments.join('/'));
  const names = visible.map(({ classname }) => classname.slice(prefix.length).split('/')[0] ?? '');
  return [...new Set(names)].filter((name) => name !== '').toSorted();
}

/** A session of a domain that was removed meanwhile has no classes. */
function domainIdOf(directory: ModelDeps['directory'], { domain }: Session): string {
  return directory.domain(domain)?.id ?? '';
}

function targetOf(request: FastifyRequest): ModelTarget {
  if (request.modelTarget === null) throw new RestError('ENDPOINT_NOT_FOUND');
  return request.modelTarget;
}

function entityOf(request: FastifyRequest): ModelTarget & { readonly id: string } {
  const target = targetOf(request);
  if (target.id === undefined) throw notAllowed(request, undefined, 'collection');
  return { ...target, id: target.id };
}

function notAllowed(request: FastifyRequest, suffix: string | undefined, kind: keyof typeof ALLOW): RestError {
  const allow = ALLOW[kind];
  const method = suffix?.toUpperCase() ?? request.method;
  return new RestError('METHOD_NOT_ALLOWED', { method, allow }, { allow: allow.join(', ') });
}

/** @throws RestError 400/1400 without an object as body */
function bodyOf({ body }: FastifyRequest): Input {
  if (body === undefined || body === null) throw badParameter('body', 'is missing');
  if (typeof body !== 'object' || Array.isArray(body)) throw badParameter('body', 'must be an object');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
  return body as Input;
}
