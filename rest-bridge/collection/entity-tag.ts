/** Entity tags (RFC 9110 sections 8.8.3 and 13.1): protection against lost updates. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { canonical } from '../../runtime/model/index.ts';
import { RestError } from '../errors.ts';

/** Called with the whole answered entity, undefined when it does not exist, while no other request writes it. */
export type Precondition = (before: object | undefined) => void;

/** A strong tag of a whole entity. Equal entities have equal tags, whatever the order of their keys. */
export function entityTag(entity: object): string {
  return `"${createHash('sha256').update(canonical(entity)).digest('base64url')}"`;
}

/**
 * The condition of a write in `If-Match` and `If-None-Match`; undefined without either.
 *
 * @throws RestError 412/1412, from the returned function, with the entity's present tag
 */
export function preconditionOf({ headers }: Pick<FastifyRequest, 'headers'>): Precondition | undefined {
  const { 'if-match': wanted, 'if-none-match': unwanted } = headers;
  if (wanted === undefined && unwanted === undefined) return undefined;
  return (before) => {
    const etag = before === undefined ? undefined : entityTag(before);
    if (wanted !== undefined && !lists(wanted, etag)) {
      const reason = etag === undefined ? 'no such entity' : 'the entity has changed; read it again';
      throw failed('if-match', reason, etag);
    }
    if (unwanted !== undefined && lists(unwanted.replaceAll('W/', ''), etag))
      throw failed('if-none-match', 'there is such an entity', etag);
  };
}

/** Sets `ETag`, and answers 304 to a GET with this tag in `If-None-Match`. */
export function tagged({ method, headers }: FastifyRequest, reply: FastifyReply, entity: object): boolean {
  const etag = entityTag(entity);
  reply.header('etag', etag);
  const known = headers['if-none-match'];
  const isUnchanged = method === 'GET' && known !== undefined && lists(known.replaceAll('W/', ''), etag);
  if (isUnchanged) reply.code(304);
  return isUnchanged;
}

/** Strong comparison: a weak tag in the header matches nothing. */
function lists(header: string, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  return header.split(',').some((each) => each.trim() === '*' || each.trim() === etag);
}

function failed(field: string, reason: string, etag: string | undefined): RestError {
  const known = etag === undefined ? {} : { etag };
  return new RestError('PRECONDITION_FAILED', { field, reason, ...known }, known);
}
