/** PGlite without its query of the array types. */
import { PGlite, type PGliteOptions, types } from '@electric-sql/pglite';

/** Ids in `pg_type` of the array types that results may have, by the id of their elements. They never change. */
export const ARRAYS: Readonly<Record<number, number>> = {
  [types.BOOL]: 1000,
  [types.BYTEA]: 1001,
  [types.INT8]: 1016,
  [types.INT2]: 1005,
  [types.INT4]: 1007,
  [types.TEXT]: 1009,
  [types.OID]: 1028,
  [types.JSON]: 199,
  [types.FLOAT4]: 1021,
  [types.FLOAT8]: 1022,
  [types.VARCHAR]: 1015,
  [types.DATE]: 1182,
  [types.TIMESTAMP]: 1115,
  [types.TIMESTAMPTZ]: 1185,
  [types.NUMERIC]: 1231,
  [types.UUID]: 2951,
  [types.JSONB]: 3807,
};

/**
 * PGlite asks the catalog for all array types when it opens. That query makes V8 compile PostgreSQL's largest functions at once:
 * 0.5 s of processor time and 600 MB for a moment. Here the types are fixed.
 */
export class Engine extends PGlite {
  constructor(options: PGliteOptions) {
    super(options);
    for (const [element, array] of Object.entries(ARRAYS)) {
      const parse = this.parsers[element] ?? ((text: string) => text);
      this.parsers[array] = (text) => types.arrayParser(text, parse, array);
    }
  }

  override async _initArrayTypes(): Promise<void> {
    // See above.
  }
}
