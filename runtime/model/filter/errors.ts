/** The error of filter expressions. */
import { BadParameterError } from '../errors.ts';

/** 400/1400: an invalid expression; `path` points to the faulty part, e.g. `filter[2][1]`. */
export class FilterError extends BadParameterError {
  override name = 'FilterError';
  override readonly path: string;

  constructor(path: string, reason: string) {
    super(/^\w*/.exec(path)?.[0] ?? path, reason, path);
    this.path = path;
  }
}
