import { BadParameterError } from '../errors.ts';

/** 400/1400: an expression that cannot be understood; `path` leads to the part at fault, e.g. `filter[2][1]`. */
export class FilterError extends BadParameterError {
  override name = 'FilterError';
  override readonly path: string;

  constructor(path: string, reason: string) {
    super(/^\w*/.exec(path)?.[0] ?? path, reason, path);
    this.path = path;
  }
}
