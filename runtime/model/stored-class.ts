import type { ResolvedClass } from './class-definition.ts';

/** A class as it is kept: its number and columns name the table, so that no name of a user is an SQL name. */
export interface StoredClass extends ResolvedClass {
  readonly number: number;
  /** Grows with each change of the properties. */
  readonly shape: number;
  /** Number of the column of each property. */
  readonly columns: Readonly<Record<string, number>>;
}
