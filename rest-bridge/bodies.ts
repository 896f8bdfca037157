import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { notKnown } from '../runtime/words/index.ts';
import type { App } from './app.ts';
import { badParameter, type RestError } from './errors.ts';
import { MAX_JSON_DEPTH, nestsDeeper } from './json-depth.ts';

/**
 * Reads request bodies: JSON, or a form with the JSON in its parameter `data` (specification, "Generic REST
 * operations"). Values keep their types; a null stays null. Keys that would reach a prototype are refused.
 */
export function readBodies(app: App): void {
  const parseJson = jsonParser(app);
  app.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer' as const };

  app.addContentTypeParser('application/json', options, (request, body: Buffer, done) => {
    if (body.length === 0) done(null, undefined);
    else if (!isUtf8(body)) done(badParameter('body', 'is not UTF-8'));
    else parseJson(request, body.toString('utf8'), 'body', done);
  });

  app.addContentTypeParser('application/x-www-form-urlencoded', options, (request, body: Buffer, done) => {
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    const form = new URLSearchParams(body.toString('utf8'));
    const data = form.get('data');
    const unknown = unknownPart(form.keys());
    if (data === null) {
      done(badParameter('data', 'is missing in the form; to send JSON as it is, set Content-Type: application/json'));
    } else if (unknown !== undefined) done(unknown);
    else parseJson(request, data, 'data', done);
  });
}

/** 400/1400 for a part of a form that is not its JSON; undefined without one. */
export function unknownPart(names: Iterable<string>): RestError | undefined {
  for (const name of names) if (name !== 'data') return badParameter(name, notKnown(name, ['data']));
  return undefined;
}

/**
 * Makes the parser for JSON bodies. It refuses keys that would reach a prototype, and too deep nesting.
 *
 * @returns a parser that calls `done` with a RestError 400/1400 that names `field`
 */
export function jsonParser(
  app: App,
): (
  request: FastifyRequest,
  text: string,
  field: string,
  done: (error: RestError | null, value?: unknown) => void,
) => void {
  const parse = app.getDefaultJsonParser('error', 'error');
  return (request, text, field, done) => {
    void parse(request, text, (error, value: unknown) => {
      if (error) done(badParameter(field, `is not JSON: ${error.message}`));
      else if (nestsDeeper(value)) done(badParameter(field, `nests more than ${MAX_JSON_DEPTH} deep`));
      else done(null, value);
    });
  };
}
