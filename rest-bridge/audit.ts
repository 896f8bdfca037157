/** Writes changes made over REST to the audit log: domain-center, iam, classes, and a user's own account. */
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Directory } from '../runtime/domain/index.ts';
import type { Session } from '../runtime/iam/index.ts';
import type { AuditEntry, AuditLog } from '../runtime/model/index.ts';
import type { App } from './app.ts';
import type { Resource } from './collection/resource.ts';
import { roleMethod, rolePath } from './route-names.ts';

/** The change made by a request. */
interface Change {
  /** Id of the session's domain, which the change may rename or remove. */
  readonly domain: string | undefined;
  /** The changed entities: as answered, or for a removal as before. */
  about: readonly { readonly id?: unknown; readonly domain_id?: unknown }[];
}

declare module 'fastify' {
  interface FastifyRequest {
    change: Change | null;
  }
}

export interface AuditDeps {
  readonly audit?: Pick<AuditLog, 'write'>;
  readonly directory: Pick<Directory, 'domain' | 'domains'>;
  readonly collections: Readonly<Record<string, Resource>>;
}

const READS: ReadonlySet<string> = new Set(['CHECK', 'GET', 'HEAD', 'LOOKUP', 'OPTIONS']);
/** Changes of single entities of classes are not logged; operations on a whole class are. */
const WHOLE_CLASS: ReadonlySet<string> = new Set(['CLEAR', 'SETUP']);
const SECTIONS = /^\/(?:domain\/|iam\/(?:users|roles)\b|user\/(?:password|sessions)\b)/;
const MAX_IDS = 100;
const MAX_FIELDS = 200;

/**
 * Logs the changes made by the routes of `app` from now on: in the session's domain, and in the domain of the changed
 * entity. The answer waits for the entry. If it cannot be written, the change stays, and the node's log has the entry.
 */
export function auditChanges(app: App, { audit, directory, collections }: AuditDeps): void {
  if (audit === undefined) return;
  app.decorateRequest('change', null);

  const note = async (request: FastifyRequest, session: Session): Promise<void> => {
    request.change = { domain: directory.domain(session.domain)?.id, about: [] };
    if (request.method !== 'DELETE') return;
    // The answer to a removal is empty.
    const path = pathOf(request);
    const slash = path.lastIndexOf('/');
    const before = await collections[path.slice(0, slash)]?.read(session, decodeURIComponent(path.slice(slash + 1)));
    if (before !== undefined) request.change.about = [before];
  };

  // Requests that change nothing wait for no promise, here and below.
  app.addHook('preHandler', (request, _reply, done) => {
    const { session } = request;
    if (session !== null && isAudited(request)) return note(request, session);
    done();
    return undefined;
  });

  app.addHook('preSerialization', (request, _reply, payload: unknown, done) => {
    if (request.change !== null) request.change.about = [payload].flat().filter((each) => isObject(each));
    done(null, payload);
  });

  const write = async (request: FastifyRequest, session: Session, change: Change): Promise<void> => {
    const entry = entryOf(request, session, change);
    const there = new Set(directory.domains().map(({ id }) => id));
    for (const domain of new Set([change.domain, ...change.about.map((entity) => entity.domain_id)])) {
      if (typeof domain !== 'string' || !there.has(domain)) continue;
      await audit.write(domain, entry).catch((error: unknown) => {
        request.log.error({ err: error, audit: entry }, 'a change is missing in the audit log');
      });
    }
  };

  app.addHook('onSend', (request, reply, payload, done) => {
    const { change, session } = request;
    if (change !== null && session !== null && reply.statusCode < 300) {
      return write(request, session, change).then(() => payload);
    }
    done(null, payload);
    return undefined;
  });
}

function isAudited(request: FastifyRequest): boolean {
  const method = roleMethod(request);
  if (READS.has(method) || isDryRun(request)) return false;
  return request.modelTarget == null ? SECTIONS.test(pathOf(request)) : WHOLE_CLASS.has(method);
}

function isDryRun({ query }: FastifyRequest): boolean {
  return isObject(query) && 'dry_run' in query && query.dry_run === true;
}

function pathOf(request: FastifyRequest): string {
  const definition = request.modelTarget?.collection.definition;
  return definition === undefined ? rolePath(request) : `/model/${definition.classname}`;
}

function entryOf(request: FastifyRequest, { login, userId, domain }: Session, { about }: Change): AuditEntry {
  const ids = about.map(({ id }) => id).filter((id) => typeof id === 'string');
  // An uploaded file has no fields.
  const bodies = request.body instanceof Readable ? [] : [request.body].flat();
  return {
    login,
    user_id: userId,
    domain,
    address: request.ip,
    method: roleMethod(request),
    path: pathOf(request),
    ids: ids.slice(0, MAX_IDS),
    count: Math.max(ids.length, 1),
    fields: [...new Set(bodies.flatMap(fieldsOf))].slice(0, MAX_FIELDS),
  };
}

/** Composite fields are logged key by key. */
function fieldsOf(body: unknown): readonly string[] {
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([name, value]) =>
    isObject(value) && Object.keys(value).length > 0 ? Object.keys(value).map((key) => `${name}.${key}`) : [name],
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
