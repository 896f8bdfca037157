import { RestError } from '../errors.ts';

/** Runs work on one of several resources; its errors name the field with the index before it. */
export async function ofIndex<T>(index: number, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const field = error instanceof RestError ? error.details?.['field'] : undefined;
    if (!(error instanceof RestError) || typeof field !== 'string') throw error;
    throw new RestError(error.id, { ...error.details, field: `${index}.${field}` }, error.headers, { cause: error });
  }
}
