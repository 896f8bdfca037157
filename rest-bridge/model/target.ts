/** The target of a path below `/model/`: a class, an entity, or an attachment. */
import type { FastifyRequest } from 'fastify';
import { type Model, type ModelCollection, NotFoundError } from '../../runtime/model/index.ts';
import { badParameter, RestError } from '../errors.ts';

/** The parsed path of a request, before the lookup of its class. */
export interface ModelPath {
  /** Decoded, without the method suffix. */
  readonly segments: readonly string[];
  /** The path ends with a slash: its children are requested. */
  readonly isSection: boolean;
  /** A custom method in lower case. */
  readonly suffix: string | undefined;
}

export interface ModelTarget {
  readonly collection: ModelCollection;
  /** `YYYY-MM-DD`, of entities of history and transactionlog. */
  readonly date?: string;
  readonly id?: string;
  /** Property of an attachment. */
  readonly field?: string;
  readonly fileName?: string;
  /** A custom method in lower case. */
  readonly suffix: string | undefined;
}

/** `/rest/v1/model/` makes four parts, the first of them empty. */
const PARTS_BEFORE = 4;
const SUFFIX = /!([a-z_]{1,32})$/;

/**
 * Reads the path from the request line: a decoded `%2F` is part of a name, not a border.
 *
 * @throws RestError 400/1400 for a path that is not percent-encoded UTF-8
 */
export function modelPath(request: FastifyRequest): ModelPath {
  const [path = ''] = request.url.split('?', 1);
  const parts = path.split('/').slice(PARTS_BEFORE).map(decode);
  const isSection = parts.at(-1) === '';
  if (isSection) parts.pop();
  if (parts.includes('')) throw new RestError('ENDPOINT_NOT_FOUND');
  const last = parts.at(-1) ?? '';
  const suffix = request.method === 'POST' && !isSection ? SUFFIX.exec(last)?.[1] : undefined;
  if (suffix !== undefined) parts[parts.length - 1] = last.slice(0, -suffix.length - 1);
  return { segments: parts, isSection, suffix };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badParameter('path', 'is not valid percent-encoded UTF-8');
  }
}

/** The path for role checks; a `!` in a name stays encoded, because elsewhere it begins a method. */
export function modelRolePath({ segments }: ModelPath): string {
  return `/model/${segments.map((each) => encodeURIComponent(each).replaceAll('!', '%21')).join('/')}`;
}

/**
 * Finds the class that a path begins with; the longest class name wins.
 *
 * @param domain id of the domain
 * @throws NotFoundError without such a class
 * @throws RestError 404/1401 for a path that goes deeper than attachments do
 */
export function modelTarget(model: Model, domain: string, { segments, suffix }: ModelPath): ModelTarget {
  const found = model.find(domain, segments);
  if (found === undefined) throw new NotFoundError('Class', segments.join('/'));
  const { collection, rest } = found;
  const mode = collection.definition.storage_mode;
  const names = mode === 'history' || mode === 'transactionlog' ? DATED : PLAIN;
  if (rest.length > names.length) throw new RestError('ENDPOINT_NOT_FOUND');
  const target = { collection, suffix, ...Object.fromEntries(rest.map((each, index) => [names[index], each])) };
  if ('date' in target && !('id' in target)) {
    throw badParameter('date', 'must stand before the id: /<YYYY-MM-DD>/<id>');
  }
  return target;
}

const PLAIN = ['id', 'field', 'fileName'] as const;
const DATED = ['date', ...PLAIN] as const;
