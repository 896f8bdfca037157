/** Storage numbers of a class. */
import type { ResolvedClass } from './class-definition.ts';

/** A class with its number and columns, which name the table: user-given names never become SQL names. */
export interface StoredClass extends ResolvedClass {
  readonly number: number;
  /** Incremented by each change of the properties. */
  readonly shape: number;
  /** Number of the column of each property. */
  readonly columns: Readonly<Record<string, number>>;
}
