import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OperationError, type OperationProblem, ParameterError } from '../runtime/operations/index.ts';
import {
  BadParameterError,
  CannotApplyError,
  ClassChangingError,
  ConflictError,
  FileMissingError,
  FileStoreError,
  ModelError,
  NotFoundError,
  StorageTimeoutError,
  StorageUnavailableError,
} from '../runtime/model/index.ts';
import { badParameter, RestError } from './errors.ts';
import { NATIVE_METHODS } from './http/methods.ts';
import { FILE_TYPES } from './model/uploads.ts';
import type { Refusal, RefusalKind } from './http/refusal.ts';

/** The REST error for any thrown error. Unknown errors become 500/1409, with details only in the log. */
export function toRestError(error: unknown): RestError {
  if (error instanceof RestError) return error;
  if (error instanceof ParameterError) return badParameter(error.field, error.reason);
  if (error instanceof OperationError) return operationError(error.problem);
  if (error instanceof ModelError) return modelError(error);
  if (error instanceof StorageTimeoutError) {
    const reason = 'the database took too long; narrow the query, or add an index';
    return new RestError('UNAVAILABLE', { reason }, {}, { cause: error });
  }
  if (error instanceof StorageUnavailableError) {
    return new RestError('UNAVAILABLE', { reason: 'the database does not answer' }, {}, { cause: error });
  }
  if (error instanceof FileMissingError) {
    return new RestError('UNAVAILABLE', { reason: 'the file store of this node lacks the file' }, {}, { cause: error });
  }
  if (error instanceof FileStoreError) {
    return new RestError('UNAVAILABLE', { reason: 'the file store does not answer' }, {}, { cause: error });
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new RestError('BODY_TOO_LARGE', undefined, {}, { cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new RestError('UNSUPPORTED_MEDIA_TYPE', undefined, {}, { cause: error });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new RestError('BAD_REQUEST', { reason: 'the body is not as long as Content-Length says' });
    case 'FST_ERR_BAD_URL':
      return new RestError('BAD_REQUEST', { reason: 'the path is not valid percent-encoded UTF-8' });
    // PostgreSQL, untranslatable character: cannot be stored in a text.
    case '22021':
      return new RestError('BAD_REQUEST', { reason: 'a text holds U+0000, which nothing is named' });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return badParameter('path', 'an identifier is too long');
    default:
      return new RestError('INTERNAL', undefined, {}, { cause: error });
  }
}

function operationError(problem: OperationProblem): RestError {
  switch (problem.kind) {
    case 'dialog_not_found':
      return new RestError('DIALOG_NOT_FOUND');
    case 'ambiguous': {
      const reason = 'several dialogs match';
      return new RestError('CONFLICT', { field: problem.field, reason, ids: problem.ids });
    }
    case 'not_applicable':
      return new RestError('CANNOT_APPLY', { field: problem.field, reason: problem.reason });
    case 'forbidden':
      return new RestError('FORBIDDEN');
    case 'not_found':
      return new RestError('ENTITY_NOT_FOUND', { entity: problem.entity });
    case 'overload':
    case 'node_unreachable':
      return new RestError(
        'UNAVAILABLE',
        { reason: problem.reason },
        { 'retry-after': String(problem.retryAfterSeconds) },
      );
    default:
      return problem satisfies never;
  }
}

function modelError(error: ModelError): RestError {
  const { field, reason } = error;
  if (error instanceof NotFoundError) return new RestError('ENTITY_NOT_FOUND', { entity: error.entity });
  if (error instanceof ConflictError) return new RestError('CONFLICT', { field, reason: error.message });
  if (error instanceof CannotApplyError) return new RestError('CANNOT_APPLY', { field, reason });
  if (error instanceof ClassChangingError) {
    return new RestError(
      'UNAVAILABLE',
      { reason: 'the class is being changed' },
      { 'retry-after': '1' },
      { cause: error },
    );
  }
  const path = error instanceof BadParameterError ? error.path : undefined;
  return new RestError('BAD_PARAMETER', { field, reason, ...(path !== undefined && { path }) });
}

const JSON_TYPES = 'application/json, or application/x-www-form-urlencoded with the JSON in parameter data';

/** Fastify's error handler. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  let shown = toRestError(error);
  if (shown.id === 'INTERNAL' && request.raw.destroyed && !request.raw.complete) {
    // The client is gone; the status is for the log.
    shown = new RestError('BAD_REQUEST', { reason: 'the connection ended within the body' });
  }
  if (shown.id === 'BODY_TOO_LARGE' && !shown.details) {
    shown = new RestError('BODY_TOO_LARGE', { limit: request.routeOptions.bodyLimit });
  } else if (shown.id === 'UNSUPPORTED_MEDIA_TYPE' && !shown.details) {
    const isFile = typeof request.modelTarget?.field === 'string';
    shown = new RestError('UNSUPPORTED_MEDIA_TYPE', { allowed: isFile ? FILE_TYPES : JSON_TYPES });
  }
  if (shown.id === 'INTERNAL') request.log.error({ err: error }, 'request failed');
  else if (shown.id === 'UNAVAILABLE' && shown.cause !== undefined) request.log.warn({ err: error }, 'request failed');
  void reply.code(shown.status).headers(shown.headers).send(shown.toObject());
}

const REFUSALS = {
  malformed: 'BAD_REQUEST',
  'head-too-large': 'HEAD_TOO_LARGE',
  'unknown-method': 'METHOD_NOT_ALLOWED',
  'unsupported-version': 'VERSION_NOT_SUPPORTED',
  'unmet-expectation': 'EXPECTATION_FAILED',
  timeout: 'REQUEST_TIMEOUT',
} as const satisfies Record<RefusalKind, string>;

/** The whole HTTP response to a message that the server could not parse as a request. */
export function renderRefusal(refusal: Refusal): string {
  const error = new RestError(REFUSALS[refusal.kind], { ...refusal.details, reason: refusal.message });
  const body = JSON.stringify(error.toObject());
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${new Date().toUTCString()}`,
    ...(refusal.kind === 'unknown-method' ? [`Allow: ${[...NATIVE_METHODS].join(', ')}`] : []),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
