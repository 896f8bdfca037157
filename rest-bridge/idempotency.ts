import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RestDeps } from './deps.ts';
import { badParameter, RestError } from './errors.ts';

const HEADER = 'idempotency-key';
const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The request's Idempotency-Key, if it has one.
 * @throws RestError 400/1400 for an invalid key
 */
export function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers[HEADER];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw badParameter('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
  }
  return key;
}

/**
 * Does the work of a request once: a repeat with the same key from the same user gets the first answer, with the header
 * `Idempotency-Replayed: true`.
 * @throws RestError 422/1405 when the key was used for another request, 409/1402 when the node ended during the first one;
 * errors of `work`
 */
export async function onlyOnce<Answer extends Readonly<Record<string, unknown>>>(
  firstAnswers: RestDeps['firstAnswers'],
  reply: FastifyReply,
  request: { readonly userId: string; readonly key: string; readonly request: string },
  work: () => Promise<Answer>,
): Promise<Answer> {
  const outcome = await firstAnswers.once(request, work);
  if ('answer' in outcome) {
    if (outcome.replayed) reply.header('idempotency-replayed', 'true');
    return outcome.answer;
  }
  if (outcome.refused === 'other_request') {
    throw new RestError('CANNOT_APPLY', { field: 'Idempotency-Key', reason: 'was used for another request' });
  }
  throw new RestError('CONFLICT', {
    field: 'Idempotency-Key',
    reason: 'the node ended before it answered the first request; see /uc/calls for its calls',
  });
}
