/** The collections of the dynamic data model: `/model/{class_path}` (specification, "Dynamic data model"). */
import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Directory } from '../../runtime/domain/index.ts';
import type { Iam, Session } from '../../runtime/iam/index.ts';
import {
  type AttachmentPlace,
  attachmentProperty,
  AUDIT,
  type AuditLog,
  CannotApplyError,
  type Entity,
  type Input,
  type KeptFiles,
  type Model,
  NotFoundError,
  refuseBuiltInWrite,
  type ResolvedClass,
} from '../../runtime/model/index.ts';
import type { App, RequestHook } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { entityTag, preconditionOf, tagged } from '../collection/entity-tag.ts';
import { badParameter, RestError } from '../errors.ts';
import { download, isDirectory, metadata, upload } from './attachments.ts';
import { inputReader, objectOf, objectsOf } from './inputs.ts';
import { jsonArray } from './json-array.ts';
import { csvList } from './csv.ts';
import { listQuery, ModelGetQuery, WriteQuery } from './query.ts';
import { modelPath, modelRolePath, type ModelTarget, modelTarget } from './target.ts';
import { discardAll, isOctetStream, type Upload } from './uploads.ts';

export interface ModelDeps {
  readonly iam: Pick<Iam, 'allows'>;
  readonly model: Model;
  readonly audit?: Pick<AuditLog, 'open'>;
  readonly directory: Pick<Directory, 'domain'>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Target of an authorised request below `/model/`. */
    modelTarget: ModelTarget | null;
  }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'LOOKUP', 'METADATA']);
const JSON_TYPE = 'application/json; charset=utf-8';

/** Methods of each kind of path, for 405. */
const ALLOW = {
  section: ['GET', 'HEAD'],
  collection: ['GET', 'HEAD', 'POST', 'LOOKUP', 'CLEAR', 'SETUP'],
  entity: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
  directory: ['GET', 'HEAD', 'POST', 'METADATA'],
  file: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'METADATA'],
} as const;

export async function modelRoutes(app: App, deps: ModelDeps): Promise<void> {
  app.decorateRequest('modelTarget', null);
  await app.register(async (scope: App) => {
    // Files are not read into memory.
    scope.removeContentTypeParser(['multipart/form-data', 'application/octet-stream']);
    await scope.register(multipart);
    // The handler reads the bytes as a stream.
    scope.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
    readRoutes(scope, deps);
    writeRoutes(scope, deps);
  });
}

/** Before anything is written: every file of a form has a place. @throws NotFoundError, CannotApplyError, RestError 400/1400 */
function checkPlaces(definition: ResolvedClass, uploads: readonly Upload[]): void {
  if (definition.storage_mode === 'transactionlog' && uploads.length > 0) {
    throw new CannotApplyError('storage_mode', 'transactionlog is append only: files cannot be added');
  }
  const taken = new Set<string>();
  for (const { part, filename } of uploads) {
    const { multi } = attachmentProperty(definition, part);
    if (multi && filename === '') throw badParameter(part, 'holds a file without a name');
    const place = multi ? `${part}/${filename}` : part;
    if (taken.has(place))
      throw badParameter(part, multi ? 'holds two files of one name' : 'holds several files; one can be here');
    taken.add(place);
  }
}

/** Permissions depend on the path, which the router does not parse: `authorise` checks them. */
function routeOptions(deps: ModelDeps) {
  return { config: { everyUser: true }, onRequest: authorise(deps) };
}

function readRoutes(app: App, deps: ModelDeps): void {
  const { model } = deps;
  app.route({
    method: ['GET', 'HEAD'],
    url: '/model/*',
    ...routeOptions(deps),
    schema: { querystring: ModelGetQuery },
    handler: async (request, reply) => {
      const { modelTarget: target, query } = request;
      if (target === null) return children(deps, request);
      const { id, date, collection } = target;
      if (id === undefined) {
        const listed = listQuery(query, sessionOf(request).id);
        if (query.format === 'csv') return await csvList(reply, collection, listed);
        const whole = listed.snapshot === '*' ? await collection.whole(listed) : undefined;
        const json = whole === undefined ? await collection.listJson(listed) : Readable.from(jsonArray(whole));
        reply.type(JSON_TYPE);
        return json;
      }
      const place = placeOf(target);
      if (place !== undefined) {
        return await download(model.attachments, place, request, reply, isAttachment(query.attachment));
      }
      const json = await collection.readJson(id, { mask: query.mask, flat: query.flat, date });
      // The tag is that of the whole entity.
      const isWhole = (query.mask ?? '') === '' && query.flat !== true;
      if (isWhole && tagged(request, reply, JSON.parse(json) as object)) return reply.send();
      reply.type(JSON_TYPE);
      return json;
    },
  });
}

function writeRoutes(app: App, deps: ModelDeps): void {
  const { model } = deps;
  const route = routeOptions(deps);
  const read = inputReader(app, () => model.attachments);
  const plainInput = async (request: FastifyRequest): Promise<Input> => {
    const { body, uploads } = await read(request);
    if (uploads.length === 0) return objectOf(body);
    await discardAll(model.attachments, uploads);
    throw badParameter('body', 'holds files; here it cannot');
  };

  /** Writes an entity together with its uploaded files. */
  const write = async (
    target: ModelTarget,
    request: FastifyRequest,
    reply: FastifyReply,
    act: (input: Input, files: KeptFiles | undefined) => Promise<Entity>,
  ) => {
    const { body, uploads } = await read(request);
    try {
      const { collection } = target;
      checkPlaces(collection.definition, uploads);
      const several = uploads.length === 0 && target.id === undefined ? objectsOf(body) : undefined;
      if (several !== undefined) return await collection.createAll(several);
      const input = objectOf(body);
      if (uploads.length === 0) return written(reply, await act(input, undefined));
      const newFiles = uploads.map(({ part: field, received, filename }) => ({ field, received, filename }));
      return written(reply, await act(input, await model.attachments.keep(collection.definition, newFiles)));
    } catch (error) {
      await discardAll(model.attachments, uploads);
      throw error;
    }
  };

  app.post('/model/*', route, async (request, reply) => {
    const target = targetOf(request);
    const { collection, suffix } = target;
    const place = placeOf(target);
    if (place !== undefined) {
      if (suffix === 'metadata') return await metadata(model.attachments, place);
      if (suffix !== undefined) throw notAllowed(request, target);
      return await upload(model.attachments, place, request, reply);
    }
    if (target.id !== undefined) throw notAllowed(request, target);
    switch (suffix) {
      case undefined:
        return await write(target, request, reply, (input, files) => collection.create(input, { files }));
      case 'lookup':
        return await collection.lookup(await plainInput(request));
      case 'setup':
        return await collection.setup(await plainInput(request));
      case 'clear':
        refuseBody(request);
        await collection.clear();
        return reply.code(204).send();
      default:
        throw notAllowed(request, target);
    }
  });

  app.put('/model/*', route, async (request, reply) => {
    const target = entityOf(request);
    const place = placeOf(target);
    if (place === undefined) {
      const { collection, id, date } = target;
      const precondition = preconditionOf(request);
      return await write(target, request, reply, (input, files) =>
        collection.replace(id, input, { date, files, precondition }),
      );
    }
    if (isDirectory(place)) throw notAllowed(request, target);
    return await upload(model.attachments, place, request, reply);
  });

  app.patch('/model/*', { ...route, schema: { querystring: WriteQuery } }, async (request, reply) => {
    const target = entityOf(request);
    if (target.field !== undefined) throw notAllowed(request, target);
    if (request.isMultipart() || isOctetStream(request)) throw new RestError('UNSUPPORTED_MEDIA_TYPE');
    const { collection, id, date } = target;
    const options = { date, append: request.query.append, precondition: preconditionOf(request) };
    return written(reply, await collection.update(id, await plainInput(request), options));
  });

  app.delete('/model/*', route, async (request, reply) => {
    const target = entityOf(request);
    const place = placeOf(target);
    refuseBody(request);
    if (place === undefined)
      await target.collection.remove(target.id, { date: target.date, precondition: preconditionOf(request) });
    else if (isDirectory(place)) throw notAllowed(request, target);
    else await model.attachments.remove(place);
    return reply.code(204).send();
  });

  app.options('/model/*', route, async (request) => {
    throw notAllowed(request, targetOf(request));
  });
}

function written(reply: FastifyReply, entity: Entity): Entity {
  reply.header('etag', entityTag(entity));
  return entity;
}

/** Hook: checks the permission and the existence of the class. Runs before the body is read. */
function authorise({ iam, model, directory, audit }: ModelDeps): RequestHook {
  return (request, _reply, done) => {
    const session = sessionOf(request);
    const path = modelPath(request);
    if (path.isSection) {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed(request, undefined);
      done();
      return undefined;
    }
    const method = path.suffix?.toUpperCase() ?? request.method;
    if (!iam.allows(session, method, modelRolePath(path))) throw new RestError('FORBIDDEN');
    const domain = domainIdOf(directory, session);
    const find = (): void => {
      const target = modelTarget(model, domain, path);
      if (!READS.has(method)) refuseBuiltInWrite(target.collection.definition);
      request.modelTarget = target;
    };
    // The first change creates the log; so does an earlier read.
    if (path.segments[0] === AUDIT.classname && domain !== '' && audit !== undefined) {
      return audit.open(domain).then(find);
    }
    find();
    done();
    return undefined;
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

/** A session of a removed domain has no classes. */
function domainIdOf(directory: ModelDeps['directory'], { domain }: Session): string {
  return directory.domain(domain)?.id ?? '';
}

function targetOf(request: FastifyRequest): ModelTarget {
  if (request.modelTarget === null) throw new RestError('ENDPOINT_NOT_FOUND');
  return request.modelTarget;
}

function entityOf(request: FastifyRequest): ModelTarget & { readonly id: string } {
  const target = targetOf(request);
  if (target.id === undefined) throw notAllowed(request, target);
  return { ...target, id: target.id };
}

/** @throws RestError 400/1400 for a field: removals take none */
function refuseBody({ body }: FastifyRequest): void {
  const [field] = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  if (field !== undefined) throw badParameter(field, 'is not known');
}

/** Undefined when the path does not name an attachment. */
function placeOf({ collection, id, date, field, fileName }: ModelTarget): AttachmentPlace | undefined {
  return id === undefined || field === undefined ? undefined : { collection, id, date, field, fileName };
}

/** `attachment`, `attachment=1`, `attachment=true`: every value except a negative one. */
function isAttachment(value: string | undefined): boolean {
  return value !== undefined && !/^(?:0|false)$/i.test(value);
}

function notAllowed(request: FastifyRequest, target: ModelTarget | undefined): RestError {
  const allow = ALLOW[kindOf(target)];
  const method = target?.suffix?.toUpperCase() ?? request.method;
  return new RestError('METHOD_NOT_ALLOWED', { method, allow }, { allow: allow.join(', ') });
}

function kindOf(target: ModelTarget | undefined): keyof typeof ALLOW {
  if (target === undefined) return 'section';
  const place = placeOf(target);
  if (place === undefined) return target.id === undefined ? 'collection' : 'entity';
  return isDirectory(place) ? 'directory' : 'file';
}
