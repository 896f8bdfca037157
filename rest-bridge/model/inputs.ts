/** Bodies of requests to model collections: an object, in any of the four content types. */
import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import type { Attachments, Input } from '../../runtime/model/index.ts';
import type { App } from '../app.ts';
import { jsonParser, unknownPart } from '../bodies.ts';
import { badParameter, RestError } from '../errors.ts';
import { discardAll, isOctetStream, receiveForm, streamOf, type Upload } from './uploads.ts';

export interface InputWithFiles {
  /** The parsed JSON. */
  readonly body: unknown;
  /** The files of a form, whose parts are named as attachment properties. */
  readonly uploads: readonly Upload[];
}

export type ReadInput = (request: FastifyRequest) => Promise<InputWithFiles>;

/**
 * Makes the function that reads the object of a request: JSON, a form with the JSON in `data`, multipart with the JSON in
 * the part `data` and files beside it, or the bytes of the JSON as octet-stream.
 */
export function inputReader(app: App, attachments: () => Attachments): ReadInput {
  const parse = jsonParser(app);
  const json = async (request: FastifyRequest, text: string, field: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      parse(request, text, field, (error, value) => (error === null ? resolve(value) : reject(error)));
    });
  return async (request) => {
    if (request.isMultipart()) {
      const { uploads, data, texts } = await receiveForm(request, attachments());
      try {
        if (data === undefined) throw badParameter('data', 'is missing; send the JSON in a part of this name');
        const unknown = unknownPart(texts);
        if (unknown !== undefined) throw unknown;
        return { body: await json(request, data, 'data'), uploads };
      } catch (error) {
        await discardAll(attachments(), uploads);
        throw error;
      }
    }
    if (!isOctetStream(request)) return { body: request.body, uploads: [] };
    const bytes = await readAll(request);
    if (!isUtf8(bytes)) throw badParameter('body', 'is not UTF-8');
    return { body: await json(request, bytes.toString('utf8'), 'body'), uploads: [] };
  };
}

async function readAll(request: FastifyRequest): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of streamOf(request) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new RestError('BODY_TOO_LARGE', { limit }, { connection: 'close' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws RestError 400/1400 without an object as body */
export function objectOf(body: unknown): Input {
  if (body === undefined || body === null) throw badParameter('body', 'is missing');
  if (typeof body !== 'object' || Array.isArray(body)) throw badParameter('body', 'must be an object');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
  return body as Input;
}

/** Most entities that one request creates. */
const MAX_ENTITIES = 10_000;

/**
 * The objects of a list, such as an export; undefined for anything but a list.
 *
 * @throws RestError 400/1400 for a list of something else
 */
export function objectsOf(body: unknown): readonly Input[] | undefined {
  if (!Array.isArray(body)) return undefined;
  if (body.length > MAX_ENTITIES) {
    throw badParameter('body', `must be an object, or an array of at most ${MAX_ENTITIES} of them`);
  }
  return body.map((each: unknown, index) => {
    if (typeof each === 'object' && each !== null && !Array.isArray(each)) return each as Input;
    throw badParameter(String(index), 'must be an object');
  });
}
